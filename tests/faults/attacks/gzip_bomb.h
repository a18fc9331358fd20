#pragma once

#include <cstddef>
#include <string>

namespace telemetry::faults {

// Returns so many zeros, compressed to a thousandth.
std::string GzippedZeros(size_t bytes);

}  // namespace telemetry::faults
