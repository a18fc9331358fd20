#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "worker/ir/compare.h"

namespace telemetry::worker::wrapper::program {

// A stripe of an output: the expected sum of its elements and the tolerance of that sum.
//
// A program checks an output with a few thousand numbers, however large the output is. Samples show the position and
// the size of errors. An output of up to kSamples elements consists of samples only. In a larger output, stripes cover
// every element: a stripe is a sequence of adjacent elements, and its sum adds them up with signs that a hash of their
// position gives. With random signs errors add up like a random walk, even if all of them have the same direction:
// results whose errors are half of their tolerance (root mean square) exceed `tolerance` = 5 sqrt(sum of squares) in
// fewer than one of 10^20 stripes. An element whose error is twice `tolerance` is never missed.
struct Stripe {
  double sum = 0;
  double tolerance = 0;
};

// The expected values of one output.
struct Expectation {
  static constexpr int64_t kSamples = 1024;
  static constexpr int64_t kStripes = 1024;       // maximum number of stripes
  static constexpr int64_t kShortestStripe = 32;  // minimum length of a stripe; the last one may be shorter

  ir::Tolerance tolerance;      // of one element
  std::vector<double> samples;  // sample i is element SamplePosition(i)
  int64_t stripe_length = 0;
  std::vector<Stripe> stripes;  // stripe i begins at element i * stripe_length; empty if all elements are samples
  int64_t not_finite = 0;       // number of elements that are not finite; the sums leave them out
};

// Returns the element of a sample. Samples are evenly spread and include the first and the last element. `elements`
// must be more than 0.
int64_t SamplePosition(int64_t sample, int64_t elements);
// Returns the sign of an element in the sum of its stripe, -1 or 1.
double StripeSign(int64_t position);

// Returns the expectation for the values of an output, in row-major order.
Expectation MakeExpectation(absl::Span<const double> values, const ir::Tolerance& tolerance);

}  // namespace telemetry::worker::wrapper::program
