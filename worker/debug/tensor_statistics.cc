#include "worker/debug/tensor_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace telemetry::worker::debug {

void StatisticsPart::Add(const StatisticsPart& other) {
  nans += other.nans;
  infinities += other.infinities;
  if (other.finite == 0) return;
  if (finite == 0) {
    minimum = other.minimum;
    maximum = other.maximum;
  }
  const auto here = static_cast<double>(finite);
  const auto there = static_cast<double>(other.finite);
  const double apart = other.mean - mean;
  // Chan, Golub, LeVeque: combines the sums of squares and adds a term for the distance of the means.
  mean += apart * (there / (here + there));
  squares += other.squares + apart * apart * (here * (there / (here + there)));
  finite += other.finite;
  minimum = std::min(minimum, other.minimum);
  maximum = std::max(maximum, other.maximum);
}

TensorStatistics StatisticsPart::Whole() const {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  TensorStatistics whole = {.elements = finite + nans + infinities, .nans = nans, .infinities = infinities};
  const bool any = finite > 0;
  whole.mean = any ? mean : kNone;
  whole.minimum = any ? minimum : kNone;
  whole.maximum = any ? maximum : kNone;
  whole.deviation = any ? std::sqrt(squares / static_cast<double>(finite)) : kNone;
  return whole;
}

TensorStatistics ComputeStatistics(absl::Span<const double> elements) {
  StatisticsPart part;
  for (const double element : elements) {
    if (std::isnan(element)) {
      ++part.nans;
    } else if (std::isinf(element)) {
      ++part.infinities;
    } else {
      part.Add({.finite = 1, .mean = element, .minimum = element, .maximum = element});
    }
  }
  return part.Whole();
}

}  // namespace telemetry::worker::debug
