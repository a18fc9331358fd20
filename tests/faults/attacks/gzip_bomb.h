#pragma once

#include <cstddef>
#include <string>

namespace telemetry::faults {

// Returns `bytes` zeros as gzip data, which has about a thousandth of the size.
std::string GzippedZeros(size_t bytes);

}  // namespace telemetry::faults
