#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "worker/device/dtype.h"
#include "worker/tune/measure/measure.pb.h"

namespace telemetry::worker::tune {

// The index of the element at that place in memory. Of a gap between elements: of the last element before it.
std::vector<int64_t> IndexOfElement(int64_t place, const wire::Buffer& buffer);

// A value as it lies in memory. A bool is the number that its byte holds.
double ValueOfElement(absl::Span<const std::byte> bytes, DType dtype);

}  // namespace telemetry::worker::tune
