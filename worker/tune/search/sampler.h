#pragma once

#include "worker/tune/search/point_space.h"
#include "worker/tune/search/random.h"

namespace telemetry::worker::tune {

// Draws points. They may break constraints; whoever proposes them asks PointSpace::IsValid. The space and the generator
// outlive it.
class Sampler {
 public:
  Sampler(const PointSpace* space, Random* random) : space_(space), random_(random) {}

  // Somewhere between the default and anything at all, where the shape of the tile is plausible.
  Point Plausible();
  // Every value alike.
  Point Uniform();
  // Some steps away: `steps` dimensions, not always others, to a neighbour each.
  Point Near(const Point& point, int steps);
  // Each dimension from one or the other.
  Point Cross(const Point& a, const Point& b);

 private:
  Point Redrawn(double rate);

  const PointSpace* space_;
  Random* random_;
};

}  // namespace telemetry::worker::tune
