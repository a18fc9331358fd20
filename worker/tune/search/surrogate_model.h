#pragma once

#include <cstddef>
#include <vector>

#include "worker/tune/search/gaussian_process.h"
#include "worker/tune/search/generational_search.h"

namespace telemetry::worker::tune {

// What a model sees of a point: every dimension's features and the tile's shape.
Features FeaturesOf(const PointSpace& space, const Point& point);

// What was learnt so far, for points that were not tried: how long they take and whether they run at all.
class SurrogateModel {
 public:
  explicit SurrogateModel(const PointSpace& space);

  // False: too few of them have a time for anything to follow.
  bool Fit(const PointSpace& space, const std::vector<Outcome>& outcomes);

  // How much faster than the best so far it can be expected to be, in the logarithm of the time; never below 0. What
  // may well not run counts for less.
  double ExpectedGain(const Features& features) const;
  // The logarithm of its time, as if that were certain, with a malus for what may well not run.
  double ExpectedTime(const Features& features) const;
  // How much a trial of one tells about the other, 0 to 1.
  double Likeness(const Features& a, const Features& b) const { return times_.Correlation(a, b); }

 private:
  double ChanceToRun(const Features& features) const;

  GaussianProcess times_;     // log of ms over the best, capped
  GaussianProcess failures_;  // 1: has no time
  bool has_failures_ = false;
  double best_ = 0;
};

}  // namespace telemetry::worker::tune
