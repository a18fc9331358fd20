#pragma once

namespace telemetry::access {

// Turns off gRPC's own log lines, because the programs report connection failures themselves. GRPC_VERBOSITY in the
// environment takes precedence. Must be called before gRPC is used.
void QuietGrpc();

}  // namespace telemetry::access
