#include "worker/wrapper/program/expectation.h"

#include <algorithm>
#include <cmath>

namespace telemetry::worker::wrapper::program {
namespace {

Stripe MakeStripe(absl::Span<const double> values, int64_t first, const ir::Tolerance& tolerance) {
  Stripe stripe;
  double squares = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    stripe.sum += StripeSign(first + static_cast<int64_t>(i)) * values[i];
    const double allowed = tolerance.absolute + tolerance.relative * std::abs(values[i]);
    squares += allowed * allowed;
  }
  stripe.tolerance = 5 * std::sqrt(squares);
  return stripe;
}

}  // namespace

int64_t SamplePosition(int64_t sample, int64_t elements) {
  const int64_t last = std::min(elements, Expectation::kSamples) - 1;
  return last == 0 ? 0 : sample * (elements - 1) / last;
}

double StripeSign(int64_t position) {
  // The finaliser of SplitMix64.
  uint64_t bits = static_cast<uint64_t>(position) + 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits >> 63 == 0 ? 1 : -1;
}

Expectation MakeExpectation(absl::Span<const double> values, const ir::Tolerance& tolerance) {
  Expectation expected{.tolerance = tolerance};
  const auto elements = static_cast<int64_t>(values.size());
  const auto is_not_finite = [](double value) { return !std::isfinite(value); };
  expected.not_finite = std::count_if(values.begin(), values.end(), is_not_finite);
  for (int64_t i = 0; i < std::min(elements, Expectation::kSamples); ++i) {
    expected.samples.push_back(values[static_cast<size_t>(SamplePosition(i, elements))]);
  }
  if (elements <= Expectation::kSamples) return expected;
  const int64_t length =
      std::max(Expectation::kShortestStripe, (elements + Expectation::kStripes - 1) / Expectation::kStripes);
  expected.stripe_length = length;
  for (int64_t first = 0; first < elements; first += length) {
    const auto count = static_cast<size_t>(std::min(length, elements - first));
    expected.stripes.push_back(MakeStripe(values.subspan(static_cast<size_t>(first), count), first, tolerance));
  }
  return expected;
}

}  // namespace telemetry::worker::wrapper::program
