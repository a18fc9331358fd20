#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/codegen/generated_kernel.h"
#include "worker/device/device.h"
#include "worker/ir/graph.h"
#include "worker/runtime/leaves.h"
#include "worker/runtime/tensor.h"

namespace telemetry::worker::runtime {

// Conversion of a call's arguments to the arguments of a launch of generated code.

using LaunchArguments = absl::InlinedVector<device::LaunchArgument, 16>;

// Appends one argument per parameter of the code. A tensor is passed as its buffer, or null if it has no memory.
void BuildLaunchArguments(const codegen::GeneratedKernel& generated, const Leaves& leaves,
                          absl::Span<const Tensor> outputs, LaunchArguments* arguments);

// Sets the sizes of the IR's tensors to those of this call, as GeneratedKernel::GridSize requires.
void SetSizes(const Leaves& leaves, std::vector<ir::HostTensor>* tensors);

}  // namespace telemetry::worker::runtime
