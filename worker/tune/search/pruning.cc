#include "worker/tune/search/pruning.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace telemetry::worker::tune::search {
namespace {

// Less than 3% of a distribution with one peak lies further below its mean (Vysochanskij-Petunin inequality).
constexpr double kDeviations = 3;

double MeanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

void Pruning::Learn(const std::vector<double>& predicted, const std::vector<double>& log_times) {
  slope_ = 0;
  const size_t size = log_times.size();
  if (size < kLeastResults) return;
  const double mean_predicted = MeanOf(predicted);
  const double mean_time = MeanOf(log_times);
  double products = 0;
  double squares = 0;
  for (size_t i = 0; i < size; ++i) {
    products += (predicted[i] - mean_predicted) * (log_times[i] - mean_time);
    squares += (predicted[i] - mean_predicted) * (predicted[i] - mean_predicted);
  }
  if (products <= 0 || squares <= 0) return;
  const double slope = products / squares;
  double least_error = 0;
  double error_squares = 0;
  for (size_t i = 0; i < size; ++i) {
    const double error = log_times[i] - mean_time - slope * (predicted[i] - mean_predicted);
    least_error = std::min(least_error, error);
    error_squares += error * error;
  }
  const double deviation = std::sqrt(error_squares / static_cast<double>(size - 2));
  const double best = *std::min_element(log_times.begin(), log_times.end());
  slope_ = slope;
  // The predictions whose time is at least `best`, even with the largest error.
  most_ = mean_predicted + (best - mean_time - std::min(least_error, -kDeviations * deviation)) / slope;
}

}  // namespace telemetry::worker::tune::search
