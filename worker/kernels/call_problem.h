#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/device/dtype.h"
#include "worker/kernels/library_kernel.h"

namespace telemetry::worker::kernels {

// The layout of a tensor that a call passes to a library kernel.
struct GivenTensor {
  device::DType dtype = device::DType::kF32;
  absl::Span<const int64_t> sizes;
};

// Returns the problem of a call with these tensors, with all numbers. `describe` returns the beginning of an error
// about the tensor with this index, such as "buffer 'x' is f32[2, 3]". INVALID_ARGUMENT names the kernel and the
// argument, with the given and the expected value: a wrong number of tensors, a wrong dtype or rank, a dimension whose
// size differs from an earlier tensor, or an unknown number.
absl::StatusOr<Problem> ProblemOfCall(const LibraryKernel& kernel, absl::Span<const GivenTensor> tensors,
                                      const Numbers& numbers, absl::FunctionRef<std::string(size_t)> describe);

}  // namespace telemetry::worker::kernels
