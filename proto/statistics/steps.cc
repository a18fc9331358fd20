#include "proto/statistics/steps.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace telemetry::statistics {
namespace {

constexpr size_t kLeastBefore = 3;
constexpr size_t kWindow = 20;         // values on each side that are compared
constexpr size_t kShortWindow = 5;     // the same for a level between two others, which is short
constexpr double kLeastChange = 0.02;  // in the logarithm of the time
constexpr double kLeastNoise = 0.003;  // standard deviation that is assumed at least
constexpr double kSignificance = 4;    // standard errors
constexpr double kTwoSided95 = 1.96;
constexpr double kMadToDeviation = 1.4826;

using Values = std::vector<double>;

double Median(Values values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Values Slice(const Values& values, size_t from, size_t to) {
  return {values.begin() + static_cast<ptrdiff_t>(from), values.begin() + static_cast<ptrdiff_t>(to)};
}

double Deviation(const Values& values, double median) {
  Values distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - median));
  return Median(std::move(distances)) * kMadToDeviation;
}

struct Comparison {
  double change = 0;  // in logarithms
  double error = 0;   // standard error of the change

  double score() const { return std::abs(change) / error; }
  bool is_step() const { return std::abs(change) >= kLeastChange && score() >= kSignificance; }
};

// Returns the standard deviation of the noise in [from, to), from the differences of neighbours, which steps change
// little.
double Noise(const Values& logs, size_t from, size_t to) {
  if (to - from < kLeastBefore) return kLeastNoise;
  Values differences;
  for (size_t i = from + 1; i < to; ++i) differences.push_back(logs[i] - logs[i - 1]);
  return std::max(Deviation(differences, 0) / std::sqrt(2.0), kLeastNoise);
}

// Compares the logarithms [from, at) with [at, to), at most `window` of each.
Comparison Compare(const Values& logs, size_t from, size_t at, size_t to, size_t window = kWindow) {
  const Values before = Slice(logs, std::max(from, at > window ? at - window : 0), at);
  const Values after = Slice(logs, at, std::min(to, at + window));
  const double before_median = Median(before);
  const double after_median = Median(after);
  double spread = Deviation(before, before_median);
  // A further step on one side must not hide this one.
  if (after.size() >= kLeastBefore) spread = std::min(spread, Deviation(after, after_median));
  const double noise = std::max(spread, Noise(logs, at - before.size(), at + after.size()));
  const double counts = 1.0 / static_cast<double>(before.size()) + 1.0 / static_cast<double>(after.size());
  return {.change = after_median - before_median, .error = noise * std::sqrt(counts)};
}

// Returns the values without single outliers: each is the median of itself and its neighbours. Steps stay in their
// place.
Values WithoutOutliers(const Values& logs) {
  Values smooth = logs;
  for (size_t i = 1; i + 1 < logs.size(); ++i) smooth[i] = Median(Slice(logs, i - 1, i + 2));
  return smooth;
}

// The logarithms, and the sums of the first ones of them without outliers.
struct Series {
  explicit Series(Values values) : logs(std::move(values)), sums(logs.size() + 1) {
    const Values smooth = WithoutOutliers(logs);
    std::partial_sum(smooth.begin(), smooth.end(), sums.begin() + 1);
  }
  double Mean(size_t from, size_t to) const { return (sums[to] - sums[from]) / static_cast<double>(to - from); }

  Values logs;
  Values sums;
};

// Returns the place in [from, to) at which two levels explain the values best; 0: there is no place.
size_t FindBestCut(const Series& series, size_t from, size_t to) {
  size_t best = 0;
  double most = 0;
  for (size_t at = from + kLeastBefore; at < to; ++at) {
    // A single value between others is an outlier; at the end of the series it may be the newest step.
    if (at + 1 == to && to != series.logs.size()) break;
    const double change = series.Mean(at, to) - series.Mean(from, at);
    const double gain = change * change * static_cast<double>(at - from) * static_cast<double>(to - at);
    if (gain <= most) continue;
    best = at;
    most = gain;
  }
  return best;
}

// Splits [from, to) at its clearest step, then both parts.
void Split(const Series& series, size_t from, size_t to, std::vector<size_t>* cuts) {
  const size_t at = FindBestCut(series, from, to);
  if (at == 0) return;
  const bool is_step =
      Compare(series.logs, from, at, to).is_step() || Compare(series.logs, from, at, to, kShortWindow).is_step();
  if (!is_step) return;
  Split(series, from, at, cuts);
  cuts->push_back(at);
  Split(series, at, to, cuts);
}

LevelStep Describe(const Values& logs, size_t from, size_t at, size_t to) {
  const Comparison comparison = Compare(logs, from, at, to);
  return {.at = at,
          .before = std::exp(Median(Slice(logs, from, at))),
          .after = std::exp(Median(Slice(logs, at, to))),
          .ratio = std::exp(comparison.change),
          .low = std::exp(comparison.change - kTwoSided95 * comparison.error),
          .high = std::exp(comparison.change + kTwoSided95 * comparison.error)};
}

}  // namespace

std::vector<LevelStep> FindSteps(const Values& values) {
  Values logs;
  logs.reserve(values.size());
  for (const double value : values) logs.push_back(std::log(value));
  const Series series(std::move(logs));
  std::vector<size_t> cuts;
  Split(series, 0, series.logs.size(), &cuts);
  std::vector<LevelStep> steps;
  for (size_t i = 0; i < cuts.size(); ++i) {
    const size_t from = i == 0 ? 0 : cuts[i - 1];
    const size_t to = i + 1 == cuts.size() ? series.logs.size() : cuts[i + 1];
    if (Compare(series.logs, from, cuts[i], to).is_step()) steps.push_back(Describe(series.logs, from, cuts[i], to));
  }
  return steps;
}

}  // namespace telemetry::statistics
