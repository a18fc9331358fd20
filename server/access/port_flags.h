#pragma once

#include <string>

#include "absl/status/status.h"
#include "proto/base/cli/flags.h"
#include "server/access/server_credentials.h"

namespace telemetry::access {

// The protection of the ports of a program.
struct PortSecurity {
  TlsFiles tls;
  std::string tokens;  // file; empty: callers need no token
  // Allows other machines to reach a port that lacks TLS, tokens or both.
  bool insecure_beyond_loopback = false;

  // Adds --tls-cert, --tls-key, --tls-client-ca, --tokens and --insecure-beyond-loopback.
  void AddTo(cli::Flags& flags);
  // Returns an error if `address`, the value of `flag`, lets other machines in without both TLS and tokens. `open`: the
  // consequence of serving it anyway, as in "everyone on the network may read".
  absl::Status Check(const char* flag, const std::string& address, const char* open) const;
  // Logs a warning if other machines can reach `address` without TLS or without tokens. `what`: what every client then
  // does, as in "can read".
  void Warn(const std::string& address, const char* what) const;
};

// Adds --NAME for the address of a port.
void AddListenFlag(cli::Flags& flags, const std::string& name, std::string& value, const std::string& help);

}  // namespace telemetry::access
