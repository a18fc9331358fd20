#include "worker/tune/grid_sample.h"

#include <algorithm>

#include "proto/base/random.h"

namespace telemetry::worker::tune {
namespace {

using ir::reference::GridPoint;

int64_t TilesAlong(const SampledGrid& grid, size_t axis) {
  return (grid.extents[axis] + grid.blocks[axis] - 1) / grid.blocks[axis];
}

// Returns the number of tiles, or `limit` if there are more.
int64_t CountTiles(const SampledGrid& grid, int64_t limit) {
  int64_t count = 1;
  for (size_t axis = 0; axis < grid.extents.size(); ++axis) {
    const int64_t along = TilesAlong(grid, axis);
    if (count > limit / along) return limit;
    count *= along;
  }
  return count;
}

int64_t PointInTile(const SampledGrid& grid, size_t axis, int64_t tile, Random* random) {
  const int64_t begin = tile * grid.blocks[axis];
  return begin + random->Below(std::min(grid.blocks[axis], grid.extents[axis] - begin));
}

void AddCorners(const SampledGrid& grid, std::vector<GridPoint>* points) {
  const size_t axes = grid.extents.size();
  for (size_t corner = 0; corner < (size_t{1} << axes); ++corner) {
    GridPoint point(axes);
    for (size_t axis = 0; axis < axes; ++axis) {
      point[axis] = (corner >> axis & 1) != 0 ? grid.extents[axis] - 1 : 0;
    }
    points->push_back(std::move(point));
  }
}

void AddEachTile(const SampledGrid& grid, int64_t tiles, Random* random, std::vector<GridPoint>* points) {
  for (int64_t tile = 0; tile < tiles; ++tile) {
    GridPoint point(grid.extents.size());
    int64_t rest = tile;
    for (size_t axis = 0; axis < point.size(); ++axis) {
      const int64_t along = TilesAlong(grid, axis);
      point[axis] = PointInTile(grid, axis, rest % along, random);
      rest /= along;
    }
    points->push_back(std::move(point));
  }
}

// Adds points whose tiles along each axis are permutations of all tiles along it, repeated: a Latin hypercube.
void AddLatin(const SampledGrid& grid, int64_t count, Random* random, std::vector<GridPoint>* points) {
  const size_t first = points->size();
  points->resize(first + static_cast<size_t>(count), GridPoint(grid.extents.size()));
  for (size_t axis = 0; axis < grid.extents.size(); ++axis) {
    std::vector<int64_t> tiles(static_cast<size_t>(TilesAlong(grid, axis)));
    for (size_t i = 0; i < tiles.size(); ++i) tiles[i] = static_cast<int64_t>(i);
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      const size_t next = i % tiles.size();
      // A step of a shuffle: the tiles before `next` have been used in this round.
      std::swap(tiles[next],
                tiles[next + static_cast<size_t>(random->Below(static_cast<int64_t>(tiles.size() - next)))]);
      (*points)[first + i][axis] = PointInTile(grid, axis, tiles[next], random);
    }
  }
}

}  // namespace

std::vector<GridPoint> ChoosePoints(const SampledGrid& grid, size_t most, uint64_t seed) {
  Random random(seed);
  std::vector<GridPoint> points;
  AddCorners(grid, &points);
  const auto limit = static_cast<int64_t>(most);
  const int64_t tiles = CountTiles(grid, limit + 1);
  if (tiles <= limit) {
    AddEachTile(grid, tiles, &random, &points);
  } else {
    AddLatin(grid, limit, &random, &points);
  }
  return points;
}

}  // namespace telemetry::worker::tune
