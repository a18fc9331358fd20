#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace telemetry::collector {

// The flags of `telemetry-collector tls init`.
struct TlsInitFlags {
  std::string out;                   // a folder; made when needed
  std::vector<std::string> hosts;    // names and addresses under which clients reach the collector
  std::vector<std::string> clients;  // names for client certificates; empty: no mutual TLS
  std::string expires = "365d";      // lifetime of the certificates; that of the authority is ten times as long
};

// Writes a certificate authority (ca.pem, ca.key), a certificate for the collector (collector.pem, collector.key) and
// one for each client (NAME.pem, NAME.key), and prints how to use them. Overwrites nothing. INVALID_ARGUMENT: a name or
// the lifetime; ALREADY_EXISTS: a file is there already; other errors are those of the system.
absl::Status InitTls(const TlsInitFlags& flags);

}  // namespace telemetry::collector
