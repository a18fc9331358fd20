#pragma once

#include <cstdint>

namespace telemetry::http2 {

// Returns a TCP socket that is connected to a port of this machine. Ends the program if nobody listens. `host` is the
// last number of the source address 127.0.0.x.
int ConnectToLoopback(int port, uint32_t host = 1);

}  // namespace telemetry::http2
