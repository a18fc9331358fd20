#pragma once

namespace telemetry::statistics {

// The probability outside of a 95% interval.
inline constexpr double kOutside95 = 0.05;

// Returns the probability that the absolute value of a variable with Student's t distribution is at least `t`.
// `degrees` > 0 need not be a whole number.
double StudentTail(double t, double degrees);

// Returns the t > 0 with StudentTail(t, degrees) = tail, for 0 < tail < 1.
double StudentQuantile(double tail, double degrees);

}  // namespace telemetry::statistics
