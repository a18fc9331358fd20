#pragma once

#include <cstdint>

namespace telemetry::http2 {

// A TCP socket connected to a port of this machine. Ends the program where nobody listens. `host`: the last number of
// the address 127.0.0.x that it comes from.
int ConnectToLoopback(int port, uint32_t host = 1);

}  // namespace telemetry::http2
