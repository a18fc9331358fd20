#pragma once

#include <vector>

namespace telemetry::worker::tune::search {

// A prediction of the results of a search that comes from elsewhere: from related runs or from a cost model.
struct PriorPrediction {
  std::vector<double> predicted;  // for each result
  double variance = 0;            // of the predictions that it makes in general, beyond these results
};

// Returns a factor from 0 to 1 for each prediction, by which they are added up to one: the slopes of the values over
// the predictions. A few imagined results, for which the mean of the predictions is right, count among the values:
// without any, the factors are equal and add up to 1. A prediction that does not fit the values has a factor near 0.
std::vector<double> PriorWeights(const std::vector<PriorPrediction>& priors, const std::vector<double>& values);

}  // namespace telemetry::worker::tune::search
