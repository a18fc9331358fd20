#pragma once

namespace telemetry::http2 {

// Returns a TCP socket connected to a port of this machine, from 127.0.0.`host`. Ends the program where nobody listens.
int ConnectToLoopback(int port, int host = 1);

}  // namespace telemetry::http2
