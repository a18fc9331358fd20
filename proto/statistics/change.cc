#include "proto/statistics/change.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "proto/statistics/student.h"

namespace telemetry::statistics {
namespace {

using Attempts = std::vector<LogMedian>;

constexpr double kLeastAttemptNoise = 0.002;  // standard deviation of the logarithm of a time

// Returns the number of attempts that the mean of a side leaves out at each end: one of six.
size_t TrimmedAtEachEnd(size_t attempts) { return attempts / 6; }

// The location and the spread of one side: Yuen's trimmed mean, and the squares of the winsorized values around their
// mean. The variance of `mean` is that of an attempt, divided by `count`.
struct Center {
  double mean = 0;
  double squares = 0;
  double count = 0;  // of the attempts that are left

  double degrees() const { return count - 1; }
};

Center CenterOf(const Attempts& attempts) {
  std::vector<double> logs;
  for (const LogMedian& attempt : attempts) logs.push_back(attempt.log);
  std::sort(logs.begin(), logs.end());
  const size_t trimmed = TrimmedAtEachEnd(logs.size());
  const auto first = logs.begin() + static_cast<ptrdiff_t>(trimmed);
  const auto last = logs.end() - static_cast<ptrdiff_t>(trimmed);
  Center center = {.count = static_cast<double>(last - first)};
  center.mean = std::accumulate(first, last, 0.0) / center.count;
  std::fill(logs.begin(), first, *first);
  std::fill(last, logs.end(), *(last - 1));
  const double winsorized = std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
  for (const double log : logs) center.squares += (log - winsorized) * (log - winsorized);
  return center;
}

// Returns the least variance among these attempts that is believed.
double LeastVariance(const Attempts& base, const Attempts& head) {
  double sum = 0;
  size_t count = 0;
  for (const Attempts* const side : {&base, &head}) {
    for (const LogMedian& attempt : *side) {
      if (!attempt.variance.has_value()) continue;
      sum += *attempt.variance;
      ++count;
    }
  }
  const double of_medians = count == 0 ? 0 : sum / static_cast<double>(count);
  return std::max(of_medians, kLeastAttemptNoise * kLeastAttemptNoise);
}

// The difference of the logarithms of two sides.
struct Difference {
  double log = 0;
  double error = 0;
  double degrees = 0;  // 0: the noise is not known

  double PValue() const { return degrees > 0 ? StudentTail(std::abs(log) / error, degrees) : 1; }
};

Difference Subtract(const Attempts& base, const Attempts& head, const std::optional<Variance>& prior) {
  const Center a = CenterOf(base);
  const Center b = CenterOf(head);
  Difference difference = {.log = b.mean - a.mean};
  const std::optional<Variance> noise = Moderate(AttemptNoise(base, head), prior);
  if (!noise.has_value()) return difference;
  const double variance = std::max(noise->value, LeastVariance(base, head));
  difference.error = std::sqrt(variance * (1 / a.count + 1 / b.count));
  difference.degrees = noise->degrees;
  return difference;
}

// Calls `visit` with each part of `attempts` that lacks a single one, unless the trimmed mean resists a single one.
template <typename Visit>
void WithoutEach(const Attempts& attempts, Visit visit) {
  if (attempts.size() < 2 || TrimmedAtEachEnd(attempts.size()) > 0) return;
  for (size_t i = 0; i < attempts.size(); ++i) {
    Attempts others = attempts;
    others.erase(others.begin() + static_cast<ptrdiff_t>(i));
    visit(others);
  }
}

}  // namespace

double Change::Detectable(double p_value) const {
  if (degrees <= 0) return std::numeric_limits<double>::infinity();
  return std::expm1(StudentQuantile(p_value, degrees) * error);
}

std::optional<Variance> AttemptNoise(const Attempts& base, const Attempts& head) {
  double squares = 0;
  double degrees = 0;
  for (const Attempts* const side : {&base, &head}) {
    if (side->empty()) continue;
    const Center center = CenterOf(*side);
    squares += center.squares;
    degrees += center.degrees();
  }
  if (degrees <= 0) return std::nullopt;
  return Variance{.value = std::max(squares / degrees, LeastVariance(base, head)), .degrees = degrees};
}

std::optional<Change> CompareAttempts(const Attempts& base, const Attempts& head,
                                      const std::optional<Variance>& prior) {
  if (base.empty() || head.empty()) return std::nullopt;
  const Difference all = Subtract(base, head, prior);
  Change change = {.ratio = std::exp(all.log), .error = all.error, .degrees = all.degrees};
  if (all.degrees <= 0) return change;
  const double reach = StudentQuantile(kOutside95, all.degrees) * all.error;
  change.low = std::exp(all.log - reach);
  change.high = std::exp(all.log + reach);
  change.p_value = all.PValue();
  const auto consider = [&](const Difference& part) {
    change.p_value = std::max(change.p_value, part.log * all.log > 0 ? part.PValue() : 1);
  };
  WithoutEach(base, [&](const Attempts& others) { consider(Subtract(others, head, prior)); });
  WithoutEach(head, [&](const Attempts& others) { consider(Subtract(base, others, prior)); });
  return change;
}

SideTime TimeOf(const Attempts& attempts, const std::optional<Variance>& noise) {
  const Center center = CenterOf(attempts);
  SideTime time = {.time = std::exp(center.mean), .low = std::nullopt, .high = std::nullopt};
  std::optional<double> reach;
  if (noise.has_value()) {
    reach = StudentQuantile(kOutside95, noise->degrees) * std::sqrt(noise->value / center.count);
  } else if (attempts.size() == 1 && attempts[0].variance.has_value()) {
    reach = StudentQuantile(kOutside95, static_cast<double>(attempts[0].count - 1)) * std::sqrt(*attempts[0].variance);
  }
  if (!reach.has_value()) return time;
  time.low = std::exp(center.mean - *reach);
  time.high = std::exp(center.mean + *reach);
  return time;
}

}  // namespace telemetry::statistics
