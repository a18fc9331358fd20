#include "worker/replay/monotone_curve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace telemetry::worker::replay {
namespace {

// Returns the slope at an end: the three-point estimate, limited so that the curve stays monotone. `near` and `far` are
// the widths and slopes of the intervals next to the end.
double EndSlope(double near_width, double far_width, double near_slope, double far_slope) {
  const double slope = ((2 * near_width + far_width) * near_slope - near_width * far_slope) / (near_width + far_width);
  if (std::signbit(slope) != std::signbit(near_slope) || near_slope == 0) return 0;
  if (std::signbit(near_slope) != std::signbit(far_slope) && std::abs(slope) > 3 * std::abs(near_slope)) {
    return 3 * near_slope;
  }
  return slope;
}

}  // namespace

MonotoneCurve::MonotoneCurve(std::vector<double> x, std::vector<double> y) : x_(std::move(x)), y_(std::move(y)) {
  const size_t intervals = x_.size() - 1;
  std::vector<double> widths;
  std::vector<double> slopes;
  for (size_t i = 0; i < intervals; ++i) {
    widths.push_back(x_[i + 1] - x_[i]);
    slopes.push_back((y_[i + 1] - y_[i]) / widths[i]);
  }
  slopes_.assign(x_.size(), slopes[0]);
  if (intervals == 1) return;
  for (size_t i = 1; i < intervals; ++i) {
    // The weighted harmonic mean of the slopes on both sides; 0 at an extremum.
    const double before = 2 * widths[i] + widths[i - 1];
    const double after = widths[i] + 2 * widths[i - 1];
    const bool is_monotone = slopes[i - 1] * slopes[i] > 0;
    slopes_[i] = is_monotone ? (before + after) / (before / slopes[i - 1] + after / slopes[i]) : 0;
  }
  slopes_.front() = EndSlope(widths[0], widths[1], slopes[0], slopes[1]);
  slopes_.back() = EndSlope(widths[intervals - 1], widths[intervals - 2], slopes[intervals - 1], slopes[intervals - 2]);
}

double MonotoneCurve::At(double x) const {
  const auto after = std::upper_bound(x_.begin() + 1, x_.end() - 1, x);
  const auto i = static_cast<size_t>(after - x_.begin()) - 1;
  const double width = x_[i + 1] - x_[i];
  const double t = (x - x_[i]) / width;
  const double u = 1 - t;
  return y_[i] * (1 + 2 * t) * u * u + width * slopes_[i] * t * u * u + y_[i + 1] * t * t * (3 - 2 * t) -
         width * slopes_[i + 1] * t * t * u;
}

}  // namespace telemetry::worker::replay
