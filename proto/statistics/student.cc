#include "proto/statistics/student.h"

#include <algorithm>
#include <cmath>

#include "proto/statistics/gamma.h"

namespace telemetry::statistics {
namespace {

constexpr double kSmallest = 1e-300;

// Returns the continued fraction of the incomplete beta function, DLMF 8.17.22, by the method of Lentz.
double BetaFraction(double a, double b, double x) {
  constexpr int kMostTerms = 10000;
  constexpr double kPrecision = 1e-14;
  const auto away_from_zero = [](double value) { return std::abs(value) < kSmallest ? kSmallest : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int i = 1; i < kMostTerms; ++i) {
    const double m = i;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < kPrecision) break;
  }
  return fraction;
}

// Returns the regularized incomplete beta function. `y` is 1 - x, without the rounding of that difference.
double IncompleteBeta(double a, double b, double x, double y) {
  if (x <= 0) return 0;
  if (y <= 0) return 1;
  const double factor = std::exp(LogGamma(a + b) - LogGamma(a) - LogGamma(b) + a * std::log(x) + b * std::log(y));
  // The fraction converges quickly on this side only.
  if (x < (a + 1) / (a + b + 2)) return factor * BetaFraction(a, b, x) / a;
  return 1 - factor * BetaFraction(b, a, y) / b;
}

}  // namespace

double StudentTail(double t, double degrees) {
  const double square = t * t;
  return IncompleteBeta(degrees / 2, 0.5, degrees / (degrees + square), square / (degrees + square));
}

double StudentQuantile(double tail, double degrees) {
  double low = 0;
  double high = 1;
  while (StudentTail(high, degrees) > tail && high < 1e150) high *= 2;
  constexpr double kPrecision = 1e-12;
  while (high - low > kPrecision * high) {
    const double middle = (low + high) / 2;
    (StudentTail(middle, degrees) > tail ? low : high) = middle;
  }
  return high;
}

}  // namespace telemetry::statistics
