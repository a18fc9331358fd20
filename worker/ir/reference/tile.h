#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "worker/device/dtype.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::ir::reference {

// The values of the reference: the elements of a tile as flat arrays of doubles, and arithmetic on a tile at a time.
// Integers are doubles with the value of their dtype (64 bits are exact up to 2^53), booleans are 0 and 1. Pure
// functions. They do not check shapes and dtypes: Verify() has done so.

// The elements of a tile, or a scalar.
struct Tile {
  device::DType dtype = device::DType::kF32;
  std::vector<int> axes;  // as Node::shape; empty: a scalar
  std::vector<int64_t> sizes;
  std::vector<double> data;  // row major

  static Tile Scalar(device::DType dtype, double value) { return {.dtype = dtype, .data = {value}}; }
};
// A tile that nodes, captured values and carried values share. It does not change after it was made.
using TilePtr = std::shared_ptr<const Tile>;

// The axes and sizes of a tile, without its values.
struct TileShape {
  std::vector<int> axes;
  std::vector<int64_t> sizes;
  int64_t element_count() const;
  // Returns the position of `axis` in the shape, or -1 if the shape does not have it.
  int FindAxis(int axis) const;
};
inline TileShape GetShape(const Tile& tile) { return {.axes = tile.axes, .sizes = tile.sizes}; }

// Returns `tile` in the layout of `shape`, which has all axes of the tile, in any order, and possibly more.
Tile Broadcast(const Tile& tile, const TileShape& shape);

// Applies a pointwise op (IsPointwise; not kMaskTo) to operands that broadcast to `shape`. The result has `dtype`.
Tile Pointwise(Op op, device::DType dtype, const TileShape& shape, const std::vector<TilePtr>& operands);

// Reduces a tile (IsReduction) along `axis`, which the tile has. `first` is the position of the first element of the
// tile on the axis.
Tile Reduce(Op op, device::DType dtype, const Tile& tile, int axis, int64_t first);

// Sums a * b along `axis`, which both have. The result has `shape`.
Tile Dot(const Tile& a, const Tile& b, int axis, const TileShape& shape);

}  // namespace telemetry::worker::ir::reference
