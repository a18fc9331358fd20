#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/ir/host_array.h"

namespace telemetry::worker::ir {

// The largest difference that is allowed between a result of a device and the reference: absolute + relative *
// |expected|.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

// Returns the tolerance of the project for a dtype. A device computes in float32 and sums in another order than the
// reference, which computes in double, so the tolerance of f32 covers the error of float32 over a few thousand terms.
// f16 and bf16 results differ by one unit in the last place if device and reference round to different sides; the
// conversion of an intermediate value can double that. Integers and booleans are exact. Dots of f16 and bf16 accumulate
// in float32 and need no more than the tolerance of their dtype. Dots of f32 on tensor cores multiply with 10 bits of
// mantissa: use ToleranceFor(DType::kF16) for them.
Tolerance ToleranceFor(device::DType dtype);

// The result of Compare(): the worst element and its index.
struct Comparison {
  bool same_sizes = true;
  int64_t elements = 0;
  int64_t mismatches = 0;  // elements beyond the tolerance
  double worst_absolute = 0;
  double worst_relative = 0;   // over elements whose expected value is not 0
  std::vector<int64_t> where;  // index of the element that exceeds its tolerance most or is nearest to it
  double expected = 0;         // at `where`
  double actual = 0;           // at `where`

  bool ok() const { return same_sizes && mismatches == 0; }
  // Returns one line of text for the failure message of a test.
  std::string ToString() const;
};

// Compares element by element, whatever the strides. NaN matches only NaN, and infinity matches only the same infinity.
Comparison Compare(const HostArray& expected, const HostArray& actual, Tolerance tolerance);

}  // namespace telemetry::worker::ir
