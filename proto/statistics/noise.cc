#include "proto/statistics/noise.h"

#include <algorithm>
#include <cmath>

#include "proto/statistics/gamma.h"

namespace telemetry::statistics {

std::optional<Variance> FitPrior(const std::vector<Variance>& groups) {
  if (groups.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(groups.size());
  double degrees = 0;
  double mean = 0;      // of the logarithms, without their bias
  double expected = 0;  // variance of the logarithms if all groups have the same variance
  std::vector<double> logs;
  for (const Variance& group : groups) {
    const double half = group.degrees / 2;
    logs.push_back(std::log(group.value) - Digamma(half) + std::log(half));
    mean += logs.back() / count;
    expected += Trigamma(half) / count;
    degrees += group.degrees;
  }
  double spread = 0;
  for (const double log : logs) spread += (log - mean) * (log - mean) / (count - 1);
  if (spread <= expected) return Variance{.value = std::exp(mean), .degrees = degrees};
  const double half = InverseTrigamma(spread - expected);
  return Variance{.value = std::exp(mean + Digamma(half) - std::log(half)), .degrees = std::min(2 * half, degrees)};
}

std::optional<Variance> Moderate(const std::optional<Variance>& own, const std::optional<Variance>& prior) {
  if (!own.has_value() || !prior.has_value()) return own.has_value() ? own : prior;
  const double degrees = own->degrees + prior->degrees;
  return Variance{.value = (own->value * own->degrees + prior->value * prior->degrees) / degrees, .degrees = degrees};
}

}  // namespace telemetry::statistics
