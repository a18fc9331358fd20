#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "worker/device/dtype.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

// The reference's values: a tile's elements as flat arrays of doubles, and the arithmetic on them, a whole tile at a
// time. Integers are doubles with an int32's value, booleans 0 and 1. Pure functions; they trust their callers as to
// shapes and dtypes (Verify has looked).

struct Tile {
  DType dtype = DType::kF32;
  std::vector<int> axes;  // as Node::shape; none: a scalar
  std::vector<int64_t> sizes;
  std::vector<double> data;  // row major

  static Tile Scalar(DType dtype, double value) { return {.dtype = dtype, .data = {value}}; }
};
// Shared between nodes, captured values and carried ones; never changed once made.
using TilePtr = std::shared_ptr<const Tile>;

// Shape without values.
struct TileShape {
  std::vector<int> axes;
  std::vector<int64_t> sizes;
  int64_t element_count() const;
  // Of an axis in it; -1 where it is not.
  int PositionOf(int axis) const;
};
inline TileShape ShapeOf(const Tile& tile) { return {.axes = tile.axes, .sizes = tile.sizes}; }

// `tile` in the layout of `shape`, which has all of its axes, in any order, and maybe more.
Tile Broadcast(const Tile& tile, const TileShape& shape);

// A pointwise op (IsPointwise; not kMaskTo) of operands that broadcast to `shape`; the result has `dtype`.
Tile Pointwise(Op op, DType dtype, const TileShape& shape, const std::vector<TilePtr>& operands);

// A reduction (IsReduction) along `axis`, which `tile` has; `first` is the position of the tile's first element on it.
Tile Reduce(Op op, DType dtype, const Tile& tile, int axis, int64_t first);

// Sums a * b along `axis`, which both have, to `shape`.
Tile Dot(const Tile& a, const Tile& b, int axis, const TileShape& shape);

}  // namespace telemetry::worker::ir
