#include "worker/tune/measure/sample_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace telemetry::worker::tune::measure {
namespace {

constexpr double kNormalDeviation = 1.4826;      // scales a median distance to a standard deviation
constexpr double kMedianOverMeanError = 1.2533;  // sqrt(pi / 2): standard error of a median over that of a mean
constexpr double kUnnoticed = 0.005;

double StandardErrorOfMedian(absl::Span<const double> values) {
  return kMedianOverMeanError * MedianDeviation(values) / std::sqrt(static_cast<double>(values.size()));
}

}  // namespace

double Median(absl::Span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  if (sorted.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(sorted.begin(), middle)) / 2;
}

double MedianDeviation(absl::Span<const double> values) {
  const double median = Median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - median));
  return kNormalDeviation * Median(distances);
}

double RelativeErrorOfMedian(absl::Span<const double> values) {
  if (values.size() < 3) return std::numeric_limits<double>::infinity();
  const double median = Median(values);
  return median > 0 ? StandardErrorOfMedian(values) / median : std::numeric_limits<double>::infinity();
}

bool TiedWithBest(absl::Span<const double> best, absl::Span<const double> other) {
  const size_t pairs = std::min(best.size(), other.size());
  if (pairs == 0) return false;
  std::vector<double> differences;
  differences.reserve(pairs);
  for (size_t i = 0; i < pairs; ++i) differences.push_back(other[i] - best[i]);
  const double noise = 2 * StandardErrorOfMedian(differences);
  return Median(differences) <= std::max(noise, kUnnoticed * Median(best));
}

}  // namespace telemetry::worker::tune::measure
