#pragma once

#include "proto/base/random.h"
#include "worker/tune/search/point_space.h"

namespace telemetry::worker::tune::search {

// Draws random points. They may violate constraints, so callers check PointSpace::IsValid. The space and the generator
// must outlive the sampler.
class Sampler {
 public:
  Sampler(const PointSpace* space, Random* random) : space_(space), random_(random) {}

  // Draws a point with a plausible tile shape: the default point with some, or all, of its dimensions redrawn.
  Point Plausible();
  // Draws each dimension uniformly; in a space whose valid points are numbered, draws one of them uniformly.
  Point Uniform();
  // Walks `steps` random steps from `point`. Each step moves one random dimension, possibly the same one again, to a
  // neighbour.
  Point Near(const Point& point, int steps);
  // Copies each dimension from `a` or `b` with equal probability.
  Point Cross(const Point& a, const Point& b);

 private:
  // Returns the default point with each dimension redrawn uniformly with probability `rate`.
  Point Redrawn(double rate);

  const PointSpace* space_;
  Random* random_;
};

}  // namespace telemetry::worker::tune::search
