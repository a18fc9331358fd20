#pragma once

#include <cstddef>
#include <vector>

namespace telemetry::worker::tune::search {

// A config whose least time (SearchOptions::least_ms) is above this multiple of the best result is not proposed. More
// than 1, because the clock of a device may exceed its typical one.
inline constexpr double kLeastOfBest = 1.25;

// Decides from the results so far which configs are not worth compiling, because a cost model predicts that they are
// much slower than the best result. The model's error on these results sets the bound: a model that does not predict
// them prunes nothing.
//
// The logarithms of the times are fitted by a line over the predictions. A config is pruned if it would be slower than
// the best result even if the model was wrong about it as much as about any result, and by no less than three standard
// deviations of the errors.
class Pruning {
 public:
  static constexpr size_t kLeastResults = 20;

  // Replaces the results: what the model predicted for them, and the logarithms of their times.
  void Learn(const std::vector<double>& predicted, const std::vector<double>& log_times);
  // Returns true if a config with this prediction is not worth a trial.
  bool IsHopeless(double predicted) const { return slope_ > 0 && predicted > most_; }

 private:
  double slope_ = 0;  // of the line; 0: nothing is pruned
  double most_ = 0;   // predictions above are hopeless
};

}  // namespace telemetry::worker::tune::search
