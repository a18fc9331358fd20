#include "server/web/statistics/steps.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace telemetry::web::statistics {
namespace {

constexpr size_t kLeastBefore = 3;
constexpr size_t kWindow = 20;          // values on each side that are compared
constexpr double kLeastChange = 0.02;   // in the logarithm of the time
constexpr double kLeastNoise = 0.003;   // standard deviation that is assumed at least
constexpr double kSignificance = 4;     // standard errors
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

// Compares the logarithms [from, at) with [at, to).
Comparison Compare(const Values& logs, size_t from, size_t at, size_t to) {
  const Values before = Slice(logs, std::max(from, at > kWindow ? at - kWindow : 0), at);
  const Values after = Slice(logs, at, std::min(to, at + kWindow));
  const double before_median = Median(before);
  const double after_median = Median(after);
  const double noise = std::max({Deviation(before, before_median), Deviation(after, after_median), kLeastNoise});
  const double counts = 1.0 / static_cast<double>(before.size()) + 1.0 / static_cast<double>(after.size());
  return {.change = after_median - before_median, .error = noise * std::sqrt(counts)};
}

// Splits [from, to) at its clearest step, then both parts.
void Split(const Values& logs, size_t from, size_t to, std::vector<size_t>* cuts) {
  size_t best = 0;
  double score = 0;
  for (size_t at = from + kLeastBefore; at < to; ++at) {
    // A single value between others is an outlier; at the end of the series it may be the newest step.
    const bool is_lonely = at + 1 == to && to != logs.size();
    const Comparison comparison = Compare(logs, from, at, to);
    if (is_lonely || !comparison.is_step() || comparison.score() <= score) continue;
    best = at;
    score = comparison.score();
  }
  if (best == 0) return;
  Split(logs, from, best, cuts);
  cuts->push_back(best);
  Split(logs, best, to, cuts);
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
  std::vector<size_t> cuts;
  Split(logs, 0, logs.size(), &cuts);
  std::vector<LevelStep> steps;
  for (size_t i = 0; i < cuts.size(); ++i) {
    const size_t from = i == 0 ? 0 : cuts[i - 1];
    const size_t to = i + 1 == cuts.size() ? logs.size() : cuts[i + 1];
    steps.push_back(Describe(logs, from, cuts[i], to));
  }
  return steps;
}

}  // namespace telemetry::web::statistics
