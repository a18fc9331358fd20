#include "worker/ir/reference/tile_memory.h"

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::ir::reference {
namespace {

constexpr int64_t kBeyondEnd = -1;

// Calls visit(position of the first element of the row, index of the outer axes) for each row along the last axis. A
// scalar is one row.
template <typename Visit>
void ForEachRow(const TileShape& shape, Visit visit) {
  const int64_t count = shape.element_count();
  const int64_t inner = shape.axes.empty() ? 1 : shape.sizes.back();
  std::vector<int64_t> index(shape.axes.empty() ? 0 : shape.axes.size() - 1, 0);
  for (int64_t position = 0; position < count; position += inner) {
    visit(position, index);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < shape.sizes[d]) break;
      index[d] = 0;
    }
  }
}

bool RowIsInside(const AxisRanges& ranges, const TileShape& shape, const std::vector<int64_t>& outer) {
  for (size_t d = 0; d < outer.size(); ++d) {
    if (outer[d] >= ranges[static_cast<size_t>(shape.axes[d])].valid()) return false;
  }
  return true;
}

absl::Status OutOfRange(size_t dimension, int64_t index, int64_t size) {
  return absl::OutOfRangeError(
      record::Cat("index ", index, " is outside of dimension ", dimension, ", which has ", size, " elements"));
}

// The offset of the first element of a tile, and the step of each axis of its shape.
struct Affine {
  int64_t base = 0;
  std::vector<int64_t> steps;
};

absl::StatusOr<Affine> AffinePart(const HostArray& array, const std::vector<TileIndex>& indices, const TileShape& shape,
                                  const AxisRanges& ranges) {
  Affine result = {.steps = std::vector<int64_t>(shape.axes.size(), 0)};
  for (size_t d = 0; d < indices.size(); ++d) {
    const TileIndex& index = indices[d];
    const int64_t stride = array.strides[d];
    if (index.kind == Index::Kind::kLiteral) {
      if (index.literal < 0 || index.literal >= array.sizes[d]) return OutOfRange(d, index.literal, array.sizes[d]);
      result.base += index.literal * stride;
    } else if (index.kind == Index::Kind::kAxis) {
      const AxisRange& range = ranges[static_cast<size_t>(index.axis)];
      if (range.extent > array.sizes[d]) return OutOfRange(d, range.extent - 1, array.sizes[d]);
      result.base += range.begin * stride;
      result.steps[static_cast<size_t>(shape.FindAxis(index.axis))] += stride;
    }
  }
  return result;
}

absl::Status AddGather(const HostArray& array, size_t dimension, const Tile& positions, std::vector<int64_t>* offsets) {
  const int64_t size = array.sizes[dimension];
  const int64_t stride = array.strides[dimension];
  for (size_t i = 0; i < offsets->size(); ++i) {
    if ((*offsets)[i] == kBeyondEnd) continue;
    const auto position = static_cast<int64_t>(positions.data[i]);
    if (position < 0 || position >= size) return OutOfRange(dimension, position, size);
    (*offsets)[i] += position * stride;
  }
  return absl::OkStatus();
}

// Returns the offset of every element of the tile in the data of the array, or kBeyondEnd.
absl::StatusOr<std::vector<int64_t>> Offsets(const HostArray& array, const std::vector<TileIndex>& indices,
                                             const TileShape& shape, const AxisRanges& ranges) {
  ASSIGN_OR_RETURN(Affine affine, AffinePart(array, indices, shape, ranges));
  std::vector<int64_t> offsets(static_cast<size_t>(shape.element_count()), kBeyondEnd);
  const int64_t inner = shape.axes.empty() ? 1 : ranges[static_cast<size_t>(shape.axes.back())].valid();
  const int64_t step = shape.axes.empty() ? 0 : affine.steps.back();
  ForEachRow(shape, [&](int64_t position, const std::vector<int64_t>& outer) {
    if (!RowIsInside(ranges, shape, outer)) return;
    int64_t offset = affine.base;
    for (size_t d = 0; d < outer.size(); ++d) offset += outer[d] * affine.steps[d];
    int64_t* row = offsets.data() + position;
    for (int64_t i = 0; i < inner; ++i) row[i] = offset + i * step;
  });
  for (size_t d = 0; d < indices.size(); ++d) {
    if (indices[d].kind != Index::Kind::kGather) continue;
    RETURN_IF_ERROR(AddGather(array, d, Broadcast(*indices[d].gather, shape), &offsets));
  }
  return offsets;
}

}  // namespace

TileShape ShapeIn(const AxisRanges& ranges, const std::vector<int>& axes) {
  TileShape shape = {.axes = axes};
  shape.sizes.reserve(axes.size());
  for (const int axis : axes) shape.sizes.push_back(ranges[static_cast<size_t>(axis)].block);
  return shape;
}

void SetBeyondEnds(const AxisRanges& ranges, double value, Tile* tile) {
  const TileShape shape = GetShape(*tile);
  const bool inside = std::all_of(shape.axes.begin(), shape.axes.end(), [&](int axis) {
    const AxisRange& range = ranges[static_cast<size_t>(axis)];
    return range.valid() == range.block;
  });
  if (inside) return;
  const int64_t inner = shape.sizes.back();
  const int64_t valid = ranges[static_cast<size_t>(shape.axes.back())].valid();
  ForEachRow(shape, [&](int64_t position, const std::vector<int64_t>& outer) {
    double* row = tile->data.data() + position;
    std::fill(row + (RowIsInside(ranges, shape, outer) ? valid : 0), row + inner, value);
  });
}

absl::StatusOr<Tile> LoadTile(const HostArray& array, const std::vector<TileIndex>& indices, const TileShape& shape,
                              const AxisRanges& ranges) {
  ASSIGN_OR_RETURN(std::vector<int64_t> offsets, Offsets(array, indices, shape, ranges));
  Tile tile = {.dtype = array.dtype, .axes = shape.axes, .sizes = shape.sizes};
  tile.data.assign(offsets.size(), FillValue(array.dtype));
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] != kBeyondEnd) tile.data[i] = array.data[static_cast<size_t>(offsets[i])];
  }
  return tile;
}

absl::Status ForEachStored(const Tile& value, const std::vector<TileIndex>& indices, const TileShape& shape,
                           const AxisRanges& ranges, const HostArray& array,
                           absl::FunctionRef<void(int64_t offset, double value)> store) {
  ASSIGN_OR_RETURN(std::vector<int64_t> offsets, Offsets(array, indices, shape, ranges));
  const Tile values = Broadcast(value, shape);
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] != kBeyondEnd) store(offsets[i], values.data[i]);
  }
  return absl::OkStatus();
}

}  // namespace telemetry::worker::ir::reference
