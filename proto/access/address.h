#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace telemetry::access {

// True for HOST:PORT: a name or IPv4 address, or an IPv6 address in brackets, and a port from 0 to 65535.
bool IsHostPort(std::string_view address);

// Returns OK for an address that a client can connect to: HOST:PORT, or a socket as gRPC names it ("unix:PATH").
// INVALID_ARGUMENT: another text; the message names the mistake and the form of an address.
absl::Status CheckAddress(std::string_view address);

// True where nothing leaves this machine: HOST:PORT with a loopback address or "localhost", or a socket. A name that
// only begins like an address ("127.0.0.1.example.org:80") is none.
bool StaysOnThisMachine(std::string_view address);

}  // namespace telemetry::access
