#include "server/web/statistics/ratio.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "server/web/statistics/samples.h"

namespace telemetry::web::statistics {
namespace {

constexpr size_t kLeastValues = 3;
// The standard error of a median is this times that of a mean.
constexpr double kMedianFactor = 1.2533;
// The 97.5% quantile of Student's t for 2, 3, ... degrees of freedom.
constexpr std::array<double, 19> kStudent = {4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201,
                                             2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};

// Beyond the table, the approximation is exact to 0.003.
double Student(size_t degrees) {
  return degrees - 2 < kStudent.size() ? kStudent[degrees - 2] : 1.96 + 2.5 / static_cast<double>(degrees);
}

std::vector<double> SortedLogs(const std::vector<double>& values) {
  std::vector<double> logs;
  for (const double value : values) {
    if (value > 0) logs.push_back(std::log(value));
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

// Returns the squared standard error of the median, from the interquartile range.
double MedianError(const std::vector<double>& sorted) {
  const double deviation = (Quantile(sorted, 0.75) - Quantile(sorted, 0.25)) / 1.349;
  const double error = kMedianFactor * deviation / std::sqrt(static_cast<double>(sorted.size()));
  return error * error;
}

Ratio WithInterval(double change, double error, size_t count) {
  const double reach = Student(count - 1) * error;
  return {.ratio = std::exp(change), .low = std::exp(change - reach), .high = std::exp(change + reach), .count = count};
}

}  // namespace

std::optional<bool> Ratio::IsSignificant() const {
  if (!low.has_value() || !high.has_value()) return std::nullopt;
  return *low > 1 || *high < 1;
}

std::optional<Ratio> CompareMedians(const std::vector<double>& baseline, const std::vector<double>& other) {
  const std::vector<double> a = SortedLogs(baseline);
  const std::vector<double> b = SortedLogs(other);
  if (a.empty() || b.empty()) return std::nullopt;
  const double change = Quantile(b, 0.5) - Quantile(a, 0.5);
  const size_t count = std::min(a.size(), b.size());
  if (count < kLeastValues) return Ratio{.ratio = std::exp(change), .count = count};
  return WithInterval(change, std::sqrt(MedianError(a) + MedianError(b)), count);
}

std::optional<Ratio> GeometricMean(const std::vector<double>& ratios) {
  const std::vector<double> logs = SortedLogs(ratios);
  if (logs.empty()) return std::nullopt;
  const auto count = static_cast<double>(logs.size());
  const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / count;
  if (logs.size() < kLeastValues) return Ratio{.ratio = std::exp(mean), .count = logs.size()};
  double squares = 0;
  for (const double log : logs) squares += (log - mean) * (log - mean);
  return WithInterval(mean, std::sqrt(squares / (count - 1) / count), logs.size());
}

}  // namespace telemetry::web::statistics
