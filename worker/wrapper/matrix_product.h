#pragma once

#include <optional>

#include "absl/types/span.h"
#include "worker/device/device.h"
#include "worker/kernel/tensor.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// What an extern kernel asks of the device's library: "matmul" and "bmm" of dense tensors. None where it is another
// kernel or its tensors lie otherwise. Valid as long as the tensors.
std::optional<MatrixProduct> ProductOf(const kernels::LibraryKernel& kernel, absl::Span<const Tensor> arguments,
                                       absl::Span<const Tensor> outputs);

}  // namespace telemetry::worker::wrapper
