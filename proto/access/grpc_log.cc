#include "proto/access/grpc_log.h"

#include <cstdlib>

namespace telemetry::access {

void QuietGrpc() { setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0); }

}  // namespace telemetry::access
