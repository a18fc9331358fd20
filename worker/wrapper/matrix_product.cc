#include "worker/wrapper/matrix_product.h"

#include <algorithm>

namespace telemetry::worker::wrapper {
namespace {

using device::MatrixProduct;
using runtime::Tensor;

bool IsDense(const Tensor& tensor) { return tensor.strides == runtime::DenseStrides(tensor.sizes); }

}  // namespace

std::optional<MatrixProduct> FindMatrixProduct(const kernels::LibraryKernel& kernel, absl::Span<const Tensor> arguments,
                                               absl::Span<const Tensor> outputs) {
  if (kernel.name != "matmul" && kernel.name != "bmm") return std::nullopt;
  if (!std::all_of(arguments.begin(), arguments.end(), IsDense)) return std::nullopt;
  const Tensor& x = arguments[0];
  const Tensor& y = arguments[1];
  const size_t rows = x.sizes.size() - 2;  // the dimension of the rows, after the batch of bmm
  return MatrixProduct{.dtype = x.dtype,
                       .batch = rows == 0 ? 1 : x.sizes[0],
                       .m = x.sizes[rows],
                       .n = y.sizes[rows + 1],
                       .k = x.sizes[rows + 1],
                       .x = x.buffer.get(),
                       .y = y.buffer.get(),
                       .out = outputs[0].buffer.get()};
}

}  // namespace telemetry::worker::wrapper
