#pragma once

#include <cstdint>

#include "absl/types/span.h"

namespace telemetry::worker::debug {

// Statistics of the elements of a tensor. Mean, extremes and standard deviation cover only the finite elements, so that
// one NaN does not hide the other values; they are NaN if no element is finite. Bools count as 0 and 1. The deviation
// is that of the population, like numpy.std.
struct TensorStatistics {
  int64_t elements = 0;
  int64_t nans = 0;
  int64_t infinities = 0;  // of either sign
  double mean = 0;
  double minimum = 0;
  double maximum = 0;
  double deviation = 0;

  int64_t finite() const { return elements - nans - infinities; }
};

// Statistics of some of the elements. Parts can be combined in any order.
struct StatisticsPart {
  int64_t finite = 0;
  int64_t nans = 0;
  int64_t infinities = 0;
  double mean = 0;     // of the finite elements
  double squares = 0;  // sum of the squared distances of the finite elements from the mean
  double minimum = 0;
  double maximum = 0;

  // Adds the elements of `other`, which must not be the same elements.
  void Add(const StatisticsPart& other);
  // Returns the statistics of the elements added so far.
  TensorStatistics Whole() const;
};

TensorStatistics ComputeStatistics(absl::Span<const double> elements);

}  // namespace telemetry::worker::debug
