#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "worker/ir/reference/options.h"

namespace telemetry::worker::tune {

// The grid of a kernel whose results are checked at a sample of its points.
struct SampledGrid {
  std::vector<int64_t> extents;  // of its axes, at least 1
  std::vector<int64_t> blocks;   // of the code whose results are checked, by axis
};

// Chooses points of a grid such that defects of the code at typical places are found: the corners of the grid, and in
// the first, the last and each other tile along every axis at least one point. If `most` is at least the number of
// tiles, each tile has a point. The points in a tile are random. The result depends only on the arguments, and has at
// least the corners and at most `most` other points.
std::vector<ir::reference::GridPoint> ChoosePoints(const SampledGrid& grid, size_t most, uint64_t seed);

}  // namespace telemetry::worker::tune
