#include "proto/statistics/noise.h"

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>

namespace telemetry::statistics {
namespace {

using boost::math::digamma;
using boost::math::trigamma;

// Returns the x > 0 with trigamma(x) = value, for value > 0.
double InverseTrigamma(double value) {
  // trigamma falls from infinity to 0, and lies between 1 / x and 1 / x + 1 / x^2.
  double low = std::log(1 / value) - 1;
  double high = std::log(1 / value + 1 / std::sqrt(value)) + 1;
  constexpr int kSteps = 60;  // halvings of a range of less than 10
  for (int i = 0; i < kSteps; ++i) {
    const double middle = (low + high) / 2;
    (trigamma(std::exp(middle)) > value ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

}  // namespace

std::optional<Variance> FitPrior(const std::vector<Variance>& groups) {
  if (groups.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(groups.size());
  double degrees = 0;
  double mean = 0;      // of the logarithms, without their bias
  double expected = 0;  // variance of the logarithms if all groups have the same variance
  std::vector<double> logs;
  for (const Variance& group : groups) {
    const double half = group.degrees / 2;
    logs.push_back(std::log(group.value) - digamma(half) + std::log(half));
    mean += logs.back() / count;
    expected += trigamma(half) / count;
    degrees += group.degrees;
  }
  double spread = 0;
  for (const double log : logs) spread += (log - mean) * (log - mean) / (count - 1);
  if (spread <= expected) return Variance{.value = std::exp(mean), .degrees = degrees};
  const double half = InverseTrigamma(spread - expected);
  return Variance{.value = std::exp(mean + digamma(half) - std::log(half)), .degrees = std::min(2 * half, degrees)};
}

std::optional<Variance> Moderate(const std::optional<Variance>& own, const std::optional<Variance>& prior) {
  if (!own.has_value() || !prior.has_value()) return own.has_value() ? own : prior;
  const double degrees = own->degrees + prior->degrees;
  return Variance{.value = (own->value * own->degrees + prior->value * prior->degrees) / degrees, .degrees = degrees};
}

}  // namespace telemetry::statistics
