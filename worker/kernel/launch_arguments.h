#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/codegen/generate.h"
#include "worker/device/device.h"
#include "worker/ir/graph.h"
#include "worker/kernel/leaves.h"
#include "worker/kernel/tensor.h"

namespace telemetry::worker {

// From a call's arguments to a launch of generated code, wherever that is launched.

using LaunchArguments = absl::InlinedVector<LaunchArgument, 16>;

// One for each of the code's parameters. Tensors are passed as their buffers, null where they have no memory.
// OUT_OF_RANGE: an int that i32 cannot hold.
absl::Status BuildLaunchArguments(const codegen::GeneratedKernel& generated, const Leaves& leaves,
                                  absl::Span<const Tensor> outputs, LaunchArguments* arguments);

// Gives the IR's tensors the sizes that they have in this call, as GeneratedKernel::GridSize wants them.
void SetSizes(const Leaves& leaves, std::vector<ir::HostTensor>* tensors);

}  // namespace telemetry::worker
