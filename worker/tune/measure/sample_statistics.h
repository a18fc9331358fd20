#pragma once

#include <vector>

#include "absl/types/span.h"

namespace telemetry::worker::tune::measure {

// Statistics of kernel times, which have a hard lower bound and a long upper tail (clocks, interrupts, refreshes). All
// functions use ranks, so that one disturbed sample changes nothing. They accept values in any order.

// Returns the middle value, or the mean of the two middle values. Returns NaN for no values.
double Median(absl::Span<const double> values);

// Returns the median distance from the median, scaled by 1.4826 so that it equals the standard deviation of a normal
// distribution.
double MedianDeviation(absl::Span<const double> values);

// Returns the standard error of the median, for normally distributed values, divided by the median. Returns infinity
// for fewer than three values.
double RelativeErrorOfMedian(absl::Span<const double> values);

// Returns true if `other` cannot be distinguished from `best`, given samples taken in turns (best[i] next to other[i]).
// The test uses the differences of the pairs, because drift that affects both configs is no difference between them.
// The two are tied if the median of other[i] - best[i] is at most two of its standard errors, or at most half a percent
// of the best's median, which no user would notice. Returns false if one of the two has no samples.
bool TiedWithBest(absl::Span<const double> best, absl::Span<const double> other);

}  // namespace telemetry::worker::tune::measure
