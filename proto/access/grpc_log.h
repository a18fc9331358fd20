#pragma once

namespace telemetry::access {

// Leaves out the lines that gRPC itself logs: a program that says why a connection fails needs none. Set in the
// environment, GRPC_VERBOSITY still counts. To be called before gRPC is used.
void QuietGrpc();

}  // namespace telemetry::access
