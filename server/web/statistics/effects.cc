#include "server/web/statistics/effects.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace telemetry::web::statistics {
namespace {

constexpr int kFittingSteps = 20;

// The number of groups with values, and a bound of the numbers.
struct GroupCount {
  size_t used = 0;
  size_t bound = 0;
};

GroupCount CountGroups(const Groups& groups) {
  GroupCount count;
  for (const int32_t group : groups) count.bound = std::max(count.bound, static_cast<size_t>(group) + 1);
  std::vector<bool> seen(count.bound);
  for (const int32_t group : groups) {
    if (!seen[static_cast<size_t>(group)]) ++count.used;
    seen[static_cast<size_t>(group)] = true;
  }
  return count;
}

std::vector<double> GroupMeans(const std::vector<double>& values, const Groups& groups, size_t bound) {
  std::vector<double> sums(bound);
  std::vector<double> counts(bound);
  for (size_t i = 0; i < values.size(); ++i) {
    sums[static_cast<size_t>(groups[i])] += values[i];
    ++counts[static_cast<size_t>(groups[i])];
  }
  for (size_t i = 0; i < bound; ++i) sums[i] = counts[i] > 0 ? sums[i] / counts[i] : 0;
  return sums;
}

double SumOfSquares(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0, [](double sum, double value) { return sum + value * value; });
}

std::vector<double> Centred(std::vector<double> values) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  for (double& value : values) value -= mean;
  return values;
}

// Subtracts the mean of each group.
void TakeOut(const Groups& groups, size_t bound, std::vector<double>* values) {
  const std::vector<double> means = GroupMeans(*values, groups, bound);
  for (size_t i = 0; i < values->size(); ++i) (*values)[i] -= means[static_cast<size_t>(groups[i])];
}

// Returns the adjusted R² of residuals after fitting `parameters` numbers.
std::optional<double> Adjusted(double residual, double total, size_t values, size_t parameters) {
  if (values < 3 || parameters >= values || total <= 1e-18) return std::nullopt;
  const double within = residual / static_cast<double>(values - parameters);
  return std::clamp(1 - within / (total / static_cast<double>(values - 1)), 0.0, 1.0);
}

}  // namespace

std::optional<double> ExplainedVariance(const std::vector<double>& values, const Groups& groups) {
  if (values.empty()) return std::nullopt;
  std::vector<double> residuals = Centred(values);
  const double total = SumOfSquares(residuals);
  const GroupCount count = CountGroups(groups);
  TakeOut(groups, count.bound, &residuals);
  return Adjusted(SumOfSquares(residuals), total, values.size(), count.used);
}

PairEffect ExplainedByPair(const std::vector<double>& values, const Groups& a, const Groups& b) {
  if (values.empty()) return {};
  const GroupCount count_a = CountGroups(a);
  const GroupCount count_b = CountGroups(b);
  Groups both(values.size());
  for (size_t i = 0; i < values.size(); ++i) both[i] = a[i] * static_cast<int32_t>(count_b.bound) + b[i];
  PairEffect pair = {.effect = ExplainedVariance(values, both)};
  std::vector<double> residuals = Centred(values);
  const double total = SumOfSquares(residuals);
  for (int i = 0; i < kFittingSteps; ++i) {
    TakeOut(a, count_a.bound, &residuals);
    TakeOut(b, count_b.bound, &residuals);
  }
  const size_t parameters = count_a.used + count_b.used - 1;
  const std::optional<double> additive = Adjusted(SumOfSquares(residuals), total, values.size(), parameters);
  if (pair.effect.has_value() && additive.has_value()) pair.interaction = std::max(0.0, *pair.effect - *additive);
  return pair;
}

}  // namespace telemetry::web::statistics
