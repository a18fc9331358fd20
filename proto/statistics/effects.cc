#include "proto/statistics/effects.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace telemetry::statistics {
namespace {

constexpr int kFittingSteps = 20;

// Groups that are numbered without gaps.
struct DenseGroups {
  std::vector<size_t> of;  // the group of each value
  size_t count = 0;
};

template <typename Number>
DenseGroups Renumber(const std::vector<Number>& groups) {
  std::vector<Number> numbers = groups;
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  DenseGroups dense = {.of = {}, .count = numbers.size()};
  dense.of.reserve(groups.size());
  for (const Number group : groups) {
    dense.of.push_back(static_cast<size_t>(std::lower_bound(numbers.begin(), numbers.end(), group) - numbers.begin()));
  }
  return dense;
}

std::vector<double> GroupMeans(const std::vector<double>& values, const DenseGroups& groups) {
  std::vector<double> means(groups.count);
  std::vector<double> counts(groups.count);
  for (size_t i = 0; i < values.size(); ++i) {
    means[groups.of[i]] += values[i];
    ++counts[groups.of[i]];
  }
  for (size_t i = 0; i < groups.count; ++i) means[i] /= counts[i];
  return means;
}

double SumOfSquares(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [](double sum, double value) { return sum + value * value; });
}

std::vector<double> Centred(std::vector<double> values) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  for (double& value : values) value -= mean;
  return values;
}

// Subtracts the mean of each group.
void TakeOut(const DenseGroups& groups, std::vector<double>* values) {
  const std::vector<double> means = GroupMeans(*values, groups);
  for (size_t i = 0; i < values->size(); ++i) (*values)[i] -= means[groups.of[i]];
}

// Returns the adjusted R² of residuals after fitting `parameters` numbers.
std::optional<double> Adjusted(double residual, double total, size_t values, size_t parameters) {
  if (values < 3 || parameters >= values || total <= 1e-18) return std::nullopt;
  const double within = residual / static_cast<double>(values - parameters);
  return std::clamp(1 - within / (total / static_cast<double>(values - 1)), 0.0, 1.0);
}

std::optional<double> Explained(const std::vector<double>& values, const DenseGroups& groups) {
  if (values.empty()) return std::nullopt;
  std::vector<double> residuals = Centred(values);
  const double total = SumOfSquares(residuals);
  TakeOut(groups, &residuals);
  return Adjusted(SumOfSquares(residuals), total, values.size(), groups.count);
}

// Returns the variance that the sum of both effects explains.
std::optional<double> ExplainedBySum(const std::vector<double>& values, const DenseGroups& a, const DenseGroups& b) {
  std::vector<double> residuals = Centred(values);
  const double total = SumOfSquares(residuals);
  for (int i = 0; i < kFittingSteps; ++i) {
    TakeOut(a, &residuals);
    TakeOut(b, &residuals);
  }
  return Adjusted(SumOfSquares(residuals), total, values.size(), a.count + b.count - 1);
}

}  // namespace

std::optional<double> ExplainedVariance(const std::vector<double>& values, const Groups& groups) {
  return Explained(values, Renumber(groups));
}

PairEffect ExplainedByPair(const std::vector<double>& values, const Groups& a, const Groups& b) {
  if (values.empty()) return {};
  const DenseGroups of_a = Renumber(a);
  const DenseGroups of_b = Renumber(b);
  std::vector<size_t> both(values.size());
  for (size_t i = 0; i < values.size(); ++i) both[i] = of_a.of[i] * of_b.count + of_b.of[i];
  PairEffect pair = {.effect = Explained(values, Renumber(both))};
  const std::optional<double> additive = ExplainedBySum(values, of_a, of_b);
  if (pair.effect.has_value() && additive.has_value()) pair.interaction = std::max(0.0, *pair.effect - *additive);
  return pair;
}

}  // namespace telemetry::statistics
