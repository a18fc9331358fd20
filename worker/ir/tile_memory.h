#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/ir/graph.h"
#include "worker/ir/host_array.h"
#include "worker/ir/tile.h"

namespace telemetry::worker::ir {

// Where tiles and tensors meet: which positions a tile has along each axis, which of them are beyond an end, which
// element of a tensor each of them means.

// The part of an axis that the current tile has. A block may reach beyond the extent.
struct AxisRange {
  int64_t begin = 0;
  int64_t block = 1;
  int64_t extent = 0;
  int64_t end() const { return std::min(begin + block, extent); }
  // Elements of the block that are not beyond the end.
  int64_t valid() const { return std::clamp<int64_t>(extent - begin, 0, block); }
};
using AxisRanges = std::vector<AxisRange>;  // by axis id

TileShape ShapeIn(const AxisRanges& ranges, const std::vector<int>& axes);

// Sets the elements beyond the end of any axis.
void SetBeyondEnds(const AxisRanges& ranges, double value, Tile* tile);

// One index of a load or a store, evaluated.
struct TileIndex {
  Index::Kind kind = Index::Kind::kAxis;
  int axis = -1;
  TilePtr gather;
  int64_t literal = 0;
};

// Elements beyond an end are FillValue. OUT_OF_RANGE: an index outside the array (says which).
absl::StatusOr<Tile> LoadTile(const HostArray& array, const std::vector<TileIndex>& indices, const TileShape& shape,
                              const AxisRanges& ranges);
// Rounds to the array's dtype; elements beyond an end are not written. `value` broadcasts to `shape`.
absl::Status StoreTile(const Tile& value, const std::vector<TileIndex>& indices, const TileShape& shape,
                       const AxisRanges& ranges, HostArray* array);

}  // namespace telemetry::worker::ir
