#pragma once

#include <optional>

#include "absl/types/span.h"
#include "worker/device/device.h"
#include "worker/runtime/tensor.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// Returns the product that an extern kernel requests from the library of the device: "matmul" or "bmm" of dense
// tensors. Returns nullopt for other kernels and other layouts. The result is valid as long as the tensors.
std::optional<device::MatrixProduct> FindMatrixProduct(const kernels::LibraryKernel& kernel,
                                                       absl::Span<const runtime::Tensor> arguments,
                                                       absl::Span<const runtime::Tensor> outputs);

}  // namespace telemetry::worker::wrapper
