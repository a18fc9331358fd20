#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/device/dtype.h"
#include "worker/kernel/tensor.h"

namespace telemetry::worker::debug {

// The elements of a tensor on the host, as a device stores them, in row-major order without gaps. Waits for what was
// queued before. Errors are the device's.
absl::StatusOr<std::vector<std::byte>> DenseBytes(const Tensor& tensor);

// Their values; a bool is 0 or 1.
std::vector<double> ValuesOf(DType dtype, absl::Span<const std::byte> dense);

}  // namespace telemetry::worker::debug
