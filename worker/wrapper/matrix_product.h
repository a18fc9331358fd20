#pragma once

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "worker/device/device.h"
#include "worker/runtime/tensor.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// Returns a matrix, or a batch of matrices (three dimensions), as an operand of cuBLAS, without its buffer. Returns
// nullopt if the matrix is empty, if neither its rows nor its columns are contiguous, or if a size exceeds 2^31 - 1.
std::optional<device::MatrixOperand> FindMatrixOperand(absl::Span<const int64_t> sizes,
                                                       absl::Span<const int64_t> strides);

// Returns the product that an extern kernel requests from the library of the device: "matmul" or "bmm" of matrices that
// FindMatrixOperand accepts. Returns nullopt for other kernels and other layouts. The result is valid as long as the
// tensors.
std::optional<device::MatrixProduct> FindMatrixProduct(const kernels::LibraryKernel& kernel,
                                                       absl::Span<const runtime::Tensor> arguments,
                                                       absl::Span<const runtime::Tensor> outputs);

}  // namespace telemetry::worker::wrapper
