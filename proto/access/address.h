#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace telemetry::access {

// Returns true for HOST:PORT: a name, an IPv4 address or an IPv6 address in brackets, and a port from 0 to 65535.
bool IsHostPort(std::string_view address);

// Returns OK for an address that a client can connect to: HOST:PORT with a port from 1 on, or a socket in gRPC's syntax
// ("unix:PATH"). Otherwise returns INVALID_ARGUMENT with a message that names the mistake and the correct form.
absl::Status CheckAddress(std::string_view address);

// Returns true if a connection to the address stays on this machine: HOST:PORT with a loopback address or "localhost",
// or a socket. Returns false for a name that only begins like a loopback address ("127.0.0.1.example.org:80").
bool StaysOnThisMachine(std::string_view address);

}  // namespace telemetry::access
