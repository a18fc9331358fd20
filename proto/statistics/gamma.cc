#include "proto/statistics/gamma.h"

#include <cmath>

namespace telemetry::statistics {
namespace {

// From here on, the asymptotic series below are exact to 1e-12.
constexpr double kLarge = 12;
constexpr double kLogOfTwoPi = 1.8378770664093453;

}  // namespace

// The series are 6.1.41, 6.3.18 and 6.4.12 of Abramowitz and Stegun, Handbook of Mathematical Functions.

double LogGamma(double x) {
  double below = 0;
  for (; x < kLarge; ++x) below += std::log(x);
  const double r = 1 / (x * x);
  return (x - 0.5) * std::log(x) - x + kLogOfTwoPi / 2 +
         (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r / 1680))) / x - below;
}

double Digamma(double x) {
  double below = 0;
  for (; x < kLarge; ++x) below += 1 / x;
  const double r = 1 / (x * x);
  return std::log(x) - 0.5 / x - r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r / 132)))) - below;
}

double Trigamma(double x) {
  double below = 0;
  for (; x < kLarge; ++x) below += 1 / (x * x);
  const double r = 1 / (x * x);
  return (1 + 0.5 / x + r * (1.0 / 6 - r * (1.0 / 30 - r * (1.0 / 42 - r / 30)))) / x + below;
}

double InverseTrigamma(double value) {
  // Trigamma falls from infinity to 0, and lies between 1 / x and 1 / x + 1 / x^2.
  double low = std::log(1 / value) - 1;
  double high = std::log(1 / value + 1 / std::sqrt(value)) + 1;
  constexpr int kSteps = 60;  // halvings of a range of less than 10
  for (int i = 0; i < kSteps; ++i) {
    const double middle = (low + high) / 2;
    (Trigamma(std::exp(middle)) > value ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

}  // namespace telemetry::statistics
