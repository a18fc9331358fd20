#include "worker/ir/reference/tile.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "worker/ir/half.h"

namespace telemetry::worker::ir::reference {
namespace {

using device::DType;

// Returns the step in `tile` for a step along each axis of `shape`; 0 for axes that the tile lacks.
std::vector<int64_t> StepsIn(const Tile& tile, const TileShape& shape) {
  std::vector<int64_t> steps(shape.axes.size(), 0);
  int64_t step = 1;
  for (size_t d = tile.axes.size(); d-- > 0;) {
    if (const int at = shape.FindAxis(tile.axes[d]); at >= 0) steps[static_cast<size_t>(at)] = step;
    step *= tile.sizes[d];
  }
  return steps;
}

// Returns the shape of `tile` with the axis at position `moved` last.
TileShape WithLast(const Tile& tile, int moved) {
  TileShape shape;
  for (size_t d = 0; d < tile.axes.size(); ++d) {
    if (static_cast<int>(d) == moved) continue;
    shape.axes.push_back(tile.axes[d]);
    shape.sizes.push_back(tile.sizes[d]);
  }
  shape.axes.push_back(tile.axes[static_cast<size_t>(moved)]);
  shape.sizes.push_back(tile.sizes[static_cast<size_t>(moved)]);
  return shape;
}

double Largest(const double* values, int64_t count) {
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < count; ++i) {
    // A NaN is kept, so that an element that should have been masked shows in the result.
    if (values[i] > largest || std::isnan(values[i])) largest = values[i];
    if (std::isnan(largest)) break;
  }
  return largest;
}

double Smallest(const double* values, int64_t count) {
  double smallest = std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < count; ++i) {
    if (values[i] < smallest || std::isnan(values[i])) smallest = values[i];
    if (std::isnan(smallest)) break;
  }
  return smallest;
}

// Adds or multiplies integers in 64 bits, and wraps the result.
template <typename Combine>
double CombineIntegers(DType dtype, const double* values, int64_t count, uint64_t result, Combine combine) {
  for (int64_t i = 0; i < count; ++i) result = combine(result, IntegerBits(dtype, values[i]));
  return Wrap(dtype, result);
}

double Sum(DType dtype, const double* values, int64_t count) {
  if (IsInteger(dtype)) return CombineIntegers(dtype, values, count, 0, std::plus<>());
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += values[i];
  return sum;
}

double Product(DType dtype, const double* values, int64_t count) {
  if (IsInteger(dtype)) return CombineIntegers(dtype, values, count, 1, std::multiplies<>());
  double product = 1;
  for (int64_t i = 0; i < count; ++i) product *= values[i];
  return product;
}

double ReduceRow(Op op, DType dtype, const double* values, int64_t count, int64_t first) {
  switch (op) {
    case Op::kSum:
      return Sum(dtype, values, count);
    case Op::kProd:
      return Product(dtype, values, count);
    case Op::kAMax:
      return Largest(values, count);
    case Op::kAMin:
      return Smallest(values, count);
    default:  // kArgMax
      return static_cast<double>(first + (std::max_element(values, values + count) - values));
  }
}

// c[m][n] += a[m][k] * b[k][n]
void MultiplyAdd(const double* a, const double* b, int64_t rows, int64_t depth, int64_t columns, double* c) {
  for (int64_t m = 0; m < rows; ++m) {
    for (int64_t k = 0; k < depth; ++k) {
      const double factor = a[m * depth + k];
      const double* row = b + k * columns;
      double* out = c + m * columns;
      for (int64_t n = 0; n < columns; ++n) out[n] += factor * row[n];
    }
  }
}

}  // namespace

int64_t TileShape::element_count() const {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return count;
}

int TileShape::FindAxis(int axis) const {
  const auto at = std::find(axes.begin(), axes.end(), axis);
  return at == axes.end() ? -1 : static_cast<int>(at - axes.begin());
}

Tile Broadcast(const Tile& tile, const TileShape& shape) {
  Tile result = {.dtype = tile.dtype, .axes = shape.axes, .sizes = shape.sizes};
  const int64_t count = shape.element_count();
  if (tile.axes == shape.axes || count == 0) {
    result.data = tile.data;
    return result;
  }
  if (tile.data.size() == 1) {
    result.data.assign(static_cast<size_t>(count), tile.data[0]);
    return result;
  }
  result.data.resize(static_cast<size_t>(count));
  const std::vector<int64_t> steps = StepsIn(tile, shape);
  const int64_t inner = shape.sizes.back();
  const int64_t inner_step = steps.back();
  std::vector<int64_t> index(shape.axes.size(), 0);
  const double* from = tile.data.data();
  for (double* to = result.data.data(); to != result.data.data() + count; to += inner) {
    for (int64_t i = 0; i < inner; ++i) to[i] = from[i * inner_step];
    for (size_t d = index.size() - 1; d-- > 0;) {
      from += steps[d];
      if (++index[d] < shape.sizes[d]) break;
      from -= steps[d] * shape.sizes[d];
      index[d] = 0;
    }
  }
  return result;
}

Tile Reduce(Op op, DType dtype, const Tile& tile, int axis, int64_t first) {
  const TileShape by_row = WithLast(tile, GetShape(tile).FindAxis(axis));
  const Tile rows = Broadcast(tile, by_row);
  const int64_t count = by_row.sizes.back();
  Tile result = {.dtype = dtype,
                 .axes = {by_row.axes.begin(), by_row.axes.end() - 1},
                 .sizes = {by_row.sizes.begin(), by_row.sizes.end() - 1}};
  result.data.resize(rows.data.size() / static_cast<size_t>(count));
  for (size_t i = 0; i < result.data.size(); ++i) {
    result.data[i] = ReduceRow(op, dtype, rows.data.data() + i * static_cast<size_t>(count), count, first);
  }
  return result;
}

Tile Dot(const Tile& a, const Tile& b, int axis, const TileShape& shape) {
  // Rows are the axes of a, columns are those that only b has. The axes that both have besides `axis` have blocks of 1
  // and can count as rows.
  const TileShape by_depth = WithLast(a, GetShape(a).FindAxis(axis));
  TileShape depth_first = {.axes = {axis}, .sizes = {by_depth.sizes.back()}};
  for (size_t d = 0; d < b.axes.size(); ++d) {
    if (by_depth.FindAxis(b.axes[d]) >= 0) continue;
    depth_first.axes.push_back(b.axes[d]);
    depth_first.sizes.push_back(b.sizes[d]);
  }
  Tile b_own = b;
  TileShape without_shared = {};
  for (size_t d = 0; d < b.axes.size(); ++d) {
    if (depth_first.FindAxis(b.axes[d]) < 0) continue;
    without_shared.axes.push_back(b.axes[d]);
    without_shared.sizes.push_back(b.sizes[d]);
  }
  b_own.axes = without_shared.axes;
  b_own.sizes = without_shared.sizes;

  Tile product = {.dtype = DType::kF32,
                  .axes = {by_depth.axes.begin(), by_depth.axes.end() - 1},
                  .sizes = {by_depth.sizes.begin(), by_depth.sizes.end() - 1}};
  product.axes.insert(product.axes.end(), depth_first.axes.begin() + 1, depth_first.axes.end());
  product.sizes.insert(product.sizes.end(), depth_first.sizes.begin() + 1, depth_first.sizes.end());
  product.data.assign(static_cast<size_t>(GetShape(product).element_count()), 0);

  const int64_t depth = by_depth.sizes.back();
  const int64_t rows = by_depth.element_count() / depth;
  const int64_t columns = depth_first.element_count() / depth;
  MultiplyAdd(Broadcast(a, by_depth).data.data(), Broadcast(b_own, depth_first).data.data(), rows, depth, columns,
              product.data.data());
  return Broadcast(product, shape);
}

}  // namespace telemetry::worker::ir::reference
