#pragma once

#include <cstdint>

#include "absl/types/span.h"

namespace telemetry::worker::debug {

// What the elements of a tensor are like. Mean, extremes and standard deviation are those of the finite elements, so
// that one NaN does not hide what the others are; NaN where none is finite. Bools count as 0 and 1. The deviation is
// the population's, as numpy.std has it.
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

// Of some of the elements; parts are added up in any order.
struct StatisticsPart {
  int64_t finite = 0;
  int64_t nans = 0;
  int64_t infinities = 0;
  double mean = 0;     // of the finite ones
  double squares = 0;  // of their distances from the mean, added up
  double minimum = 0;
  double maximum = 0;

  void Add(const StatisticsPart& other);
  TensorStatistics Whole() const;
};

TensorStatistics StatisticsOf(absl::Span<const double> elements);

}  // namespace telemetry::worker::debug
