#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/ir/graph.h"
#include "worker/ir/host_array.h"
#include "worker/ir/reference/tile.h"

namespace telemetry::worker::ir::reference {

// Loads and stores of tiles: the positions of a tile along each axis, the positions beyond an end, and the element of a
// tensor at each position.

// The part of an axis that the current tile covers. A block may reach beyond the extent.
struct AxisRange {
  int64_t begin = 0;
  int64_t block = 1;
  int64_t extent = 0;
  int64_t end() const { return std::min(begin + block, extent); }
  // Returns the number of elements of the block that are not beyond the end.
  int64_t valid() const { return std::clamp<int64_t>(extent - begin, 0, block); }
};
using AxisRanges = std::vector<AxisRange>;  // by axis id

// Returns the shape of a tile along `axes`, with the blocks as sizes.
TileShape ShapeIn(const AxisRanges& ranges, const std::vector<int>& axes);

// Sets the elements beyond the end of any axis to `value`.
void SetBeyondEnds(const AxisRanges& ranges, double value, Tile* tile);

// An evaluated index of a load or a store.
struct TileIndex {
  Index::Kind kind = Index::Kind::kAxis;
  int axis = -1;
  TilePtr gather;
  int64_t literal = 0;
};

// Loads a tile. Elements beyond an end are FillValue(). OUT_OF_RANGE: an index is outside the array; the message names
// it.
absl::StatusOr<Tile> LoadTile(const HostArray& array, const std::vector<TileIndex>& indices, const TileShape& shape,
                              const AxisRanges& ranges);
// Calls store(offset in the array's data, value) for each element of a tile that is not beyond an end. `value`
// broadcasts to `shape`. Only the sizes and strides of the array are used. OUT_OF_RANGE: an index is outside the array;
// the message names it.
absl::Status ForEachStored(const Tile& value, const std::vector<TileIndex>& indices, const TileShape& shape,
                           const AxisRanges& ranges, const HostArray& array,
                           absl::FunctionRef<void(int64_t offset, double value)> store);

}  // namespace telemetry::worker::ir::reference
