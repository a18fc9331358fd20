#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/ir/trace.h"
#include "worker/kernels/library_kernel.h"

namespace telemetry::worker::kernels {

// Returns the device IR of a kernel for a problem with static shapes. Callers need no device: show-code and the tests
// of the compiler use it. The tensors are dense unless `strides` is given, with one list for each tensor. Returns the
// errors of the trace, which name the kernel.
absl::StatusOr<ir::DeviceIr> TraceProblem(const LibraryKernel& kernel, const Problem& problem,
                                          absl::Span<const std::vector<int64_t>> strides = {});

// Returns the outputs that a traced kernel writes, with their sizes.
std::vector<TensorSpec> ListOutputs(const ir::DeviceIr& device_ir);

}  // namespace telemetry::worker::kernels
