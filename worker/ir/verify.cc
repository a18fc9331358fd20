#include "absl/status/status.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

absl::Status Verify(const DeviceIr& ir) {
  return ir.graphs.empty() ? absl::InternalError("no graph") : absl::OkStatus();
}

}  // namespace telemetry::worker::ir
