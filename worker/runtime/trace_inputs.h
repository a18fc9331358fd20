#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "worker/ir/trace.h"
#include "worker/runtime/leaves.h"
#include "worker/runtime/settings.h"

namespace telemetry::worker::runtime {

// Returns the properties of the arguments that a trace may use. With static shapes these are all sizes and strides.
// Otherwise they are sizes of 0 and 1 and strides of 1 (which determine how memory is read, and are therefore extra
// keys), and all other sizes and strides are symbols s0, s1 and so on. Numbers become f32, i32 or i64
// (Argument::scalar_dtype).
// INVALID_ARGUMENT: CheckTensor rejects a tensor, or a tensor has more elements than index_dtype can count.
absl::StatusOr<ir::TraceInputs> MakeTraceInputs(const std::string& kernel_name, const LeafNames& names,
                                                const Leaves& leaves, const Settings& settings);

}  // namespace telemetry::worker::runtime
