#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "worker/tune/search/generational_search.h"
#include "worker/tune/search/point_space.h"
#include "worker/tune/search/search_algorithm.h"

namespace telemetry::worker::tune::search {

// The results of an earlier search with the same options, for a search that repeats it. Measured times differ by noise
// from one search to the next, and a small difference leads a model to other proposals.
class EarlierResults {
 public:
  // Leaves out trials whose configs are not valid in the space.
  EarlierResults(const PointSpace& space, const std::vector<Trial>& trials);

  // Compares a result with that of the earlier search, if there is one.
  void Compare(const Outcome& outcome);
  // Returns true while the compared results agree: at most a tenth of them, or two, differ by more than a tenth of the
  // time, or failed in one search only. The times of configs that are twice as slow as the best come from few samples:
  // they may differ by half.
  bool Agree() const;
  // Returns the points in the order of the earlier results.
  const std::vector<Point>& points() const { return points_; }

 private:
  std::vector<Point> points_;
  std::map<Point, std::optional<double>> times_ms_;  // unset: the config failed
  double best_ms_ = std::numeric_limits<double>::infinity();
  size_t compared_ = 0;
  size_t different_ = 0;
};

}  // namespace telemetry::worker::tune::search
