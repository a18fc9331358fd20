#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/ir/host_array.h"

namespace telemetry::worker::ir {

// How far a device's result may lie from the reference's: absolute + relative * |expected|.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

// The project's tolerances. A device computes in float32 and sums in another order than the reference, which computes
// in double, so what remains is float32's error over a few thousand terms; f16 and bf16 results are off by one unit in
// the last place where the two round to different sides, and an intermediate conversion can double that. Integers and
// booleans are exact. Dots of f16 and bf16 accumulate in float32 and need no more than their dtype; dots of f32 on
// tensor cores multiply with 10 bits of mantissa: ToleranceFor(DType::kF16).
Tolerance ToleranceFor(DType dtype);

// The result of Compare: the worst element and where it is.
struct Comparison {
  bool same_sizes = true;
  int64_t elements = 0;
  int64_t mismatches = 0;  // elements beyond the tolerance
  double worst_absolute = 0;
  double worst_relative = 0;   // of elements with an expected value other than 0
  std::vector<int64_t> where;  // the element that exceeds (or comes nearest to) its tolerance the most
  double expected = 0;         // there
  double actual = 0;

  bool ok() const { return same_sizes && mismatches == 0; }
  // One line, for a test's message.
  std::string ToString() const;
};

// Element by element, whatever the strides. NaN matches NaN only, and infinity the same infinity.
Comparison Compare(const HostArray& expected, const HostArray& actual, Tolerance tolerance);

}  // namespace telemetry::worker::ir
