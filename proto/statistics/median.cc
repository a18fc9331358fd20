#include "proto/statistics/median.h"

#include <algorithm>
#include <cmath>

#include "proto/statistics/samples.h"

namespace telemetry::statistics {
namespace {

constexpr size_t kLeastForSpread = 3;
// The standard error of a median is this times that of a mean.
constexpr double kMedianFactor = 1.2533;
// The interquartile range of a normal distribution in standard deviations.
constexpr double kNormalRange = 1.349;

}  // namespace

std::optional<LogMedian> MedianOfLogs(const std::vector<double>& values) {
  std::vector<double> logs;
  for (const double value : values) {
    if (value > 0) logs.push_back(std::log(value));
  }
  if (logs.empty()) return std::nullopt;
  std::sort(logs.begin(), logs.end());
  LogMedian median = {.log = Quantile(logs, 0.5), .variance = std::nullopt, .count = logs.size()};
  if (logs.size() < kLeastForSpread) return median;
  const double deviation = (Quantile(logs, 0.75) - Quantile(logs, 0.25)) / kNormalRange;
  const double error = kMedianFactor * deviation / std::sqrt(static_cast<double>(logs.size()));
  median.variance = error * error;
  return median;
}

}  // namespace telemetry::statistics
