#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace telemetry::collector {

// The flags of `telemetry-collector tls init`.
struct TlsInitFlags {
  std::string out;                   // a folder; created if it does not exist
  std::vector<std::string> hosts;    // names and addresses under which clients reach the collector
  std::vector<std::string> clients;  // names for client certificates; empty: no mutual TLS
  std::string expires = "365d";      // lifetime of the certificates; that of the authority is ten times as long
};

// Writes a certificate authority (ca.pem, ca.key), a certificate for the collector (collector.pem, collector.key) and
// one for each client (NAME.pem, NAME.key), and prints how to use them. Overwrites no file. INVALID_ARGUMENT: a name or
// the lifetime is invalid. ALREADY_EXISTS: a file exists. Other errors are those of the system.
absl::Status InitTls(const TlsInitFlags& flags);

}  // namespace telemetry::collector
