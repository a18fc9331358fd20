#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/ir/trace.h"
#include "worker/kernels/library.h"

namespace telemetry::worker::kernels {

// The device IR of a kernel for a problem with dense tensors and static shapes, for who has no device that a kernel
// could be bound to: show-code, the tests of the compiler. With `strides`, one list for each tensor, they lie so.
// Errors are the trace's, which names the kernel.
absl::StatusOr<ir::DeviceIr> TraceProblem(const LibraryKernel& kernel, const Problem& problem,
                                          absl::Span<const std::vector<int64_t>> strides = {});

// The outputs that a traced kernel writes, with their sizes in this binding.
std::vector<TensorSpec> OutputsOf(const ir::DeviceIr& device_ir);

}  // namespace telemetry::worker::kernels
