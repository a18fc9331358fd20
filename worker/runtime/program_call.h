#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/runtime/argument.h"
#include "worker/runtime/kernel.h"

namespace telemetry::worker::runtime {

// Calls of kernels on memory of the program (program_tensor.h). Thread rules are those of the device.

// Runs a kernel into outputs of the program, which are dense. `positional` is complete: one argument per parameter.
// `stream` is a CUstream of the program (0: the legacy default stream); unset: the device's own stream. Queues the
// launch and returns, except on OpenCL, where it waits until the outputs are written. The first call with arguments of
// one kind compiles and loads the code. Later calls allocate no memory of the device and wait for nothing, so a stream
// can be captured into a CUDA graph. Returns the errors of Kernel::RunInto, CheckNoOverlap and Interop::UseStream.
// FAILED_PRECONDITION: a first call while the stream is captured.
absl::Status RunOnProgramMemory(Kernel& kernel, absl::Span<const Argument> positional, absl::Span<const Tensor> outputs,
                                std::optional<uint64_t> stream);

// Returns the outputs of a call with these arguments, allocated by AllocateProgramTensor and not initialised. Returns
// the errors of Kernel::Bind.
absl::StatusOr<std::vector<Tensor>> AllocateProgramOutputs(Kernel& kernel, absl::Span<const Argument> positional);

}  // namespace telemetry::worker::runtime
