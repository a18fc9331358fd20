#pragma once

#include "worker/tune/search/point_space.h"

namespace telemetry::worker::tune::search {

// An estimate of the tile and the grid of a config. It is computed from the config space alone, which contains the size
// of an axis only as the largest block size. All values are log2.
struct TileShape {
  double elements = 0;    // elements of the largest tile that a thread block holds
  double threads = 0;     // threads that share the tile
  double tiles = 0;       // tiles of the grid
  double most_tiles = 0;  // tiles of the grid if every block size were 1

  double elements_per_thread() const { return elements - threads; }
};

TileShape ComputeTileShape(const PointSpace& space, const Point& point);

// Returns 0 for the shape of a typical fast config. Otherwise returns the factors of two by which the shape is off:
// threads without work, more elements than a thread's registers hold, too few tiles to fill the GPU (which count half).
// Has no upper bound.
double Implausibility(const TileShape& shape);

}  // namespace telemetry::worker::tune::search
