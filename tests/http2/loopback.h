#pragma once

namespace telemetry::http2 {

// A TCP socket connected to a port of this machine. Ends the program where nobody listens.
int ConnectToLoopback(int port);

}  // namespace telemetry::http2
