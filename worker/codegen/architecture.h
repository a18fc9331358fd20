#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "worker/codegen/generate.h"

namespace telemetry::worker::codegen {

// Returns the target for a CUDA architecture ("sm_90") when no such device is present. Its limits are those of the
// data-centre GPU of that architecture. "sm_90a" means the same as "sm_90": generated code always uses every
// instruction of the architecture. INVALID_ARGUMENT unless the text is "sm_" with a number of at least 80, or "sm_"
// with a number of at least 90 and "a".
absl::StatusOr<Target> TargetOfArchitecture(std::string_view architecture);

}  // namespace telemetry::worker::codegen
