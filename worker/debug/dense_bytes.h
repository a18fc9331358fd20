#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/device/dtype.h"
#include "worker/runtime/tensor.h"

namespace telemetry::worker::debug {

// Returns the elements of a tensor, in the representation of the device, in row-major order without gaps. Waits for
// work queued before. Returns the errors of the device.
absl::StatusOr<std::vector<std::byte>> DenseBytes(const runtime::Tensor& tensor);

// Returns the values of such elements as numbers; a bool is 0 or 1.
std::vector<double> DecodeValues(device::DType dtype, absl::Span<const std::byte> dense);

}  // namespace telemetry::worker::debug
