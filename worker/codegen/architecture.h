#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "worker/codegen/generate.h"

namespace telemetry::worker::codegen {

// What code for a CUDA architecture ("sm_90") may count on where the device is not here to be asked: the limits of the
// data-centre GPU of that architecture. "sm_90a" is the same as "sm_90": the code has every instruction of the
// architecture. INVALID_ARGUMENT: not "sm_" and a number of at least 80, or of at least 90 and "a".
absl::StatusOr<Target> TargetOfArchitecture(std::string_view architecture);

}  // namespace telemetry::worker::codegen
