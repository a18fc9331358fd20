#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "worker/ir/compare.h"

namespace telemetry::worker::wrapper {

// What a program knows of an output, in a few thousand numbers however large the output is.
//
// Samples show where and how values are wrong; up to kSamples elements they are all. Of what has more, stripes cover
// every element: a stripe is some elements that follow each other, and its sum adds them up with signs that a hash of
// their position gives. With random signs errors add up like a random walk, also those that all go one way: results
// whose errors are half of their tolerance (root mean square) are beyond `tolerance` = 5 sqrt(sum of squares) in less
// than one of 10^20 stripes. An element whose error is twice that is never missed.
struct Stripe {
  double sum = 0;
  double tolerance = 0;
};

struct Expectation {
  static constexpr int64_t kSamples = 1024;
  static constexpr int64_t kStripes = 1024;       // at most
  static constexpr int64_t kShortestStripe = 32;  // but for the last

  ir::Tolerance tolerance;      // of an element
  std::vector<double> samples;  // element SamplePosition(i)
  int64_t stripe_length = 0;
  std::vector<Stripe> stripes;  // of elements i * stripe_length and on; none where all elements are samples
  int64_t not_finite = 0;       // elements, which no sum has
};

// Evenly spread, the first and the last element among them. `elements` > 0.
int64_t SamplePosition(int64_t sample, int64_t elements);
// -1 or 1.
double StripeSign(int64_t position);

// `values` in row-major order.
Expectation ExpectationOf(absl::Span<const double> values, const ir::Tolerance& tolerance);

}  // namespace telemetry::worker::wrapper
