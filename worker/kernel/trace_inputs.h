#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "worker/ir/trace.h"
#include "worker/kernel/leaves.h"
#include "worker/kernel/settings.h"

namespace telemetry::worker {

// What a trace may know of the arguments: with static shapes every size and stride; else sizes of 0 and 1, and strides
// of 1 (which decide how memory is read, and are extra keys therefore), while every other is a symbol, s0 and on.
// Numbers become f32, or i32 for ints and bools. INVALID_ARGUMENT: a tensor that CheckTensor refuses, or with more
// elements than index_dtype counts.
absl::StatusOr<ir::TraceInputs> MakeTraceInputs(const std::string& kernel_name, const LeafNames& names,
                                                const Leaves& leaves, const Settings& settings);

}  // namespace telemetry::worker
