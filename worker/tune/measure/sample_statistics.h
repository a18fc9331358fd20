#pragma once

#include <vector>

#include "absl/types/span.h"

namespace telemetry::worker::tune {

// Times of a kernel have a hard lower end and a long tail above (clocks, interrupts, refreshes), so everything here
// goes by ranks: one disturbed sample changes nothing. All take values in any order.

// The middle one, or the mean of the middle two. NaN of none.
double Median(absl::Span<const double> values);

// Median distance from the median, scaled (by 1.4826) to be a normal distribution's standard deviation.
double MedianDeviation(absl::Span<const double> values);

// How well a median is known: its standard error, as if the values were normally distributed about it, over the
// median. Infinity for fewer than three values.
double RelativeErrorOfMedian(absl::Span<const double> values);

// Whether `other` cannot be told from `best`, given samples taken in turns (best[i] next to other[i]). Drift that both
// have in common is no difference, so the decision is on the pairs: tied when the median of other[i] - best[i] is not
// more than two of its standard errors from 0, or less than half a percent of the best's median, which nobody would
// notice. False where either has no samples.
bool TiedWithBest(absl::Span<const double> best, absl::Span<const double> other);

}  // namespace telemetry::worker::tune
