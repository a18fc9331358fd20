#include "worker/tune/search/tile_shape.h"

#include <algorithm>
#include <cmath>

namespace telemetry::worker::tune::search {
namespace {

constexpr double kLog2WarpThreads = 5;
constexpr double kMostElementsPerThread = 7;
constexpr double kEnoughTiles = 7;  // roughly enough for the multiprocessors of a GPU

// Returns the log2 of a size. None stands for the complete axis.
double Log2Size(const Dimension& dimension, int64_t ordinal) {
  const int64_t size = dimension.IsNone(ordinal) ? dimension.parameter().high : dimension.NumberAt(ordinal);
  return std::log2(static_cast<double>(size));
}

}  // namespace

TileShape ComputeTileShape(const PointSpace& space, const Point& point) {
  TileShape shape = {.threads = kLog2WarpThreads};
  double held = 0;         // elements of the grid's blocks times the elements that are reduced at once
  double widest_grid = 0;  // the largest block of the grid; its product with widest_loop is a tile, too
  double widest_loop = 0;  // the largest block of a loop
  for (size_t i = 0; i < point.size(); ++i) {
    const Dimension& dimension = space.dimensions()[i];
    const codegen::ConfigParameter& parameter = dimension.parameter();
    if (!dimension.is_ordered()) continue;
    if (parameter.key == "num_warps" || parameter.key == "num_ctas") shape.threads += Log2Size(dimension, point[i]);
    if (parameter.key == "reduction_loops") held += Log2Size(dimension, point[i]);
    if (parameter.key != "block_sizes") continue;
    const double size = Log2Size(dimension, point[i]);
    if (parameter.constraint.empty()) {
      widest_loop = std::max(widest_loop, size);
      continue;
    }
    held += size;
    widest_grid = std::max(widest_grid, size);
    const double whole = std::log2(static_cast<double>(parameter.high));
    shape.most_tiles += whole;
    shape.tiles += whole - size;
  }
  shape.elements = std::max(held, widest_grid + widest_loop);
  return shape;
}

double Implausibility(const TileShape& shape) {
  const double each = shape.elements_per_thread();
  const double idle = std::max(0.0, -each);
  const double crowded = std::max(0.0, each - kMostElementsPerThread);
  const double missing_tiles = std::max(0.0, std::min(kEnoughTiles, shape.most_tiles) - shape.tiles);
  return idle + crowded + missing_tiles / 2;
}

}  // namespace telemetry::worker::tune::search
