#include "proto/statistics/ratio.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "proto/statistics/median.h"
#include "proto/statistics/student.h"

namespace telemetry::statistics {
namespace {

constexpr size_t kLeastValues = 3;

Ratio WithInterval(double change, double error, size_t count) {
  const double reach = StudentQuantile(kOutside95, static_cast<double>(count - 1)) * error;
  return {.ratio = std::exp(change), .low = std::exp(change - reach), .high = std::exp(change + reach), .count = count};
}

}  // namespace

std::optional<bool> Ratio::IsSignificant() const {
  if (!low.has_value() || !high.has_value()) return std::nullopt;
  return *low > 1 || *high < 1;
}

std::optional<Ratio> CompareMedians(const std::vector<double>& baseline, const std::vector<double>& other) {
  const std::optional<LogMedian> a = MedianOfLogs(baseline);
  const std::optional<LogMedian> b = MedianOfLogs(other);
  if (!a.has_value() || !b.has_value()) return std::nullopt;
  const double change = b->log - a->log;
  const size_t count = std::min(a->count, b->count);
  if (!a->variance.has_value() || !b->variance.has_value()) return Ratio{.ratio = std::exp(change), .count = count};
  return WithInterval(change, std::sqrt(*a->variance + *b->variance), count);
}

std::optional<Ratio> GeometricMean(const std::vector<double>& ratios) {
  std::vector<double> logs;
  for (const double ratio : ratios) {
    if (ratio > 0) logs.push_back(std::log(ratio));
  }
  if (logs.empty()) return std::nullopt;
  const auto count = static_cast<double>(logs.size());
  const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / count;
  if (logs.size() < kLeastValues) return Ratio{.ratio = std::exp(mean), .count = logs.size()};
  double squares = 0;
  for (const double log : logs) squares += (log - mean) * (log - mean);
  return WithInterval(mean, std::sqrt(squares / (count - 1) / count), logs.size());
}

}  // namespace telemetry::statistics
