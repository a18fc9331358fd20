#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "proto/statistics/median.h"
#include "proto/statistics/noise.h"

namespace telemetry::statistics {

// The change of a time from attempts of one side, `base`, to attempts of another, `head`.
//
// Samples of one attempt share its clock, temperature and memory layout, so they are no independent repetitions: the
// difference of two attempts of the same code is larger than their samples suggest. The unit of all numbers here is
// therefore the attempt, represented by the median of its samples, and its noise is the variance among attempts of one
// side: T. Kalibera and R. Jones, Rigorous benchmarking in reasonable time, ISMM 2013. The times are compared by their
// logarithms, with Student's t distribution.
//
// An attempt on a machine that was throttled or shared is slower by far more than the usual noise. The mean of a side
// is therefore a trimmed mean, which leaves out a sixth of the attempts at each end, with the variance of the
// winsorized values: K. K. Yuen, The two-sample trimmed t for unequal population variances, Biometrika 61 (1974). Of a
// side of fewer than six attempts it leaves out none; there, the change must also be significant without each single
// attempt.
//
// Few attempts estimate their variance badly. FitPrior() of the variances of all comparisons that belong together
// supplies what the attempts of one comparison lack.
struct Change {
  double ratio = 1;  // head / base, of the trimmed geometric means of the attempts' times
  // The 95% confidence interval of `ratio`. Unset: the noise among attempts is not known.
  std::optional<double> low;
  std::optional<double> high;
  // The probability of a ratio as far from 1 if nothing has changed. The largest of its values with all attempts and
  // without each single one, so that no single attempt makes a change significant; a side of one attempt keeps it. 1:
  // the noise is not known.
  double p_value = 1;
  // Standard error of the logarithm of `ratio`, and its degrees of freedom. 0: the noise is not known.
  double error = 0;
  double degrees = 0;

  // Returns the smallest relative change that has at most this p-value: 0.03 for 3%. Returns infinity if the noise is
  // not known.
  double Detectable(double p_value) const;
};

// Returns the variance among the attempts of each side, with as many degrees of freedom as there are attempts beyond
// the first of each side. nullopt: no side has two attempts. The standard deviation is taken to be at least 0.2%,
// because times that are rounded may be equal, and at least the standard error of the medians.
std::optional<Variance> AttemptNoise(const std::vector<LogMedian>& base, const std::vector<LogMedian>& head);

// Returns the change between two sides, or nullopt if a side has no attempt. `prior` is the noise that similar
// comparisons have; nullopt: not known.
std::optional<Change> CompareAttempts(const std::vector<LogMedian>& base, const std::vector<LogMedian>& head,
                                      const std::optional<Variance>& prior);

// The time of one side.
struct SideTime {
  double time = 0;  // trimmed geometric mean of the attempts, in the unit of their times
  // The 95% confidence interval from the noise among attempts; for a single attempt of unknown noise from its samples.
  // Unset: neither is known.
  std::optional<double> low;
  std::optional<double> high;
};

// Returns the time of a side of at least one attempt. `noise` is the variance among attempts; nullopt: not known.
SideTime TimeOf(const std::vector<LogMedian>& attempts, const std::optional<Variance>& noise);

}  // namespace telemetry::statistics
