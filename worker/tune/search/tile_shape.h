#pragma once

#include "worker/tune/search/point_space.h"

namespace telemetry::worker::tune {

// What a config makes of the work, as far as a space tells: it knows axes by the largest block that each may have. All
// in log2.
struct TileShape {
  double elements = 0;  // of the largest tile that a block of threads holds
  double threads = 0;   // that share it
  double tiles = 0;     // of the grid
  double most_tiles = 0;

  double elements_per_thread() const { return elements - threads; }
};

TileShape TileShapeOf(const PointSpace& space, const Point& point);

// 0: as configs that run well tend to be. Else by how many factors of two it is off: threads with nothing to do, or
// with more than their registers hold; tiles for a part of the GPU only. No bound above.
double Implausibility(const TileShape& shape);

}  // namespace telemetry::worker::tune
