#pragma once

namespace telemetry::statistics {

// The gamma function's logarithm and the first two derivatives of that logarithm, for x > 0, with a relative error
// below 1e-10. Unlike std::lgamma, which writes a global variable, they may be called from any thread.
double LogGamma(double x);
double Digamma(double x);
double Trigamma(double x);

// Returns the x > 0 with Trigamma(x) = value, for value > 0.
double InverseTrigamma(double value);

}  // namespace telemetry::statistics
