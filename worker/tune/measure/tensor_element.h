#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "worker/device/dtype.h"
#include "worker/tune/measure/measure.pb.h"

namespace telemetry::worker::tune::measure {

// Returns the index of the element at this position in memory. For a gap between elements, returns the index of the
// last element before the gap.
std::vector<int64_t> IndexOfElement(int64_t place, const wire::Buffer& buffer);

// Returns the value of an element with these bytes. A bool is returned as the number in its byte.
double ValueOfElement(absl::Span<const std::byte> bytes, device::DType dtype);

}  // namespace telemetry::worker::tune::measure
