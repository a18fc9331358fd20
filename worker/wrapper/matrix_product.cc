#include "worker/wrapper/matrix_product.h"

#include <algorithm>
#include <limits>

namespace telemetry::worker::wrapper {

using device::MatrixOperand;
using device::MatrixProduct;
using runtime::Tensor;

std::optional<MatrixOperand> FindMatrixOperand(absl::Span<const int64_t> sizes, absl::Span<const int64_t> strides) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const size_t last = sizes.size() - 1;
  const int64_t rows = sizes[last - 1];
  const int64_t columns = sizes[last];
  const int64_t down = strides[last - 1];
  const int64_t across = strides[last];
  const int64_t batch_stride = last == 2 ? strides[0] : 0;
  if (rows == 0 || columns == 0 || std::max({rows, columns, down, across, sizes[0]}) > kMost) return std::nullopt;
  if ((across == 1 || columns == 1) && (down >= columns || rows == 1)) {
    return MatrixOperand{.leading = std::max(down, columns), .batch_stride = batch_stride};
  }
  if ((down == 1 || rows == 1) && (across >= rows || columns == 1)) {
    return MatrixOperand{.is_column_major = true, .leading = std::max(across, rows), .batch_stride = batch_stride};
  }
  return std::nullopt;
}

std::optional<MatrixProduct> FindMatrixProduct(const kernels::LibraryKernel& kernel, absl::Span<const Tensor> arguments,
                                               absl::Span<const Tensor> outputs) {
  if (kernel.name != "matmul" && kernel.name != "bmm") return std::nullopt;
  const Tensor& x = arguments[0];
  const Tensor& y = arguments[1];
  std::optional<MatrixOperand> x_operand = FindMatrixOperand(x.sizes, x.strides);
  std::optional<MatrixOperand> y_operand = FindMatrixOperand(y.sizes, y.strides);
  if (!x_operand || !y_operand) return std::nullopt;
  x_operand->buffer = x.buffer.get();
  y_operand->buffer = y.buffer.get();
  const size_t rows = x.sizes.size() - 2;  // the dimension of the rows, after the batch of bmm
  return MatrixProduct{.dtype = x.dtype,
                       .batch = rows == 0 ? 1 : x.sizes[0],
                       .m = x.sizes[rows],
                       .n = y.sizes[rows + 1],
                       .k = x.sizes[rows + 1],
                       .x = *x_operand,
                       .y = *y_operand,
                       .out = outputs[0].buffer.get()};
}

}  // namespace telemetry::worker::wrapper
