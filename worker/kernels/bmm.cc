#include "worker/kernels/all.h"
#include "worker/kernels/matrix_product.h"
#include "worker/kernels/tolerance.h"

namespace telemetry::worker::kernels {
namespace {

using ir::AxisRef;
using ir::TensorRef;
using ir::Trace;

absl::Status Body(Trace& t) {
  const TensorRef x = t.Tensor("x");
  const TensorRef y = t.Tensor("y");
  const TensorRef out = t.Output("out", {t.SizeOf(x, 0), t.SizeOf(x, 1), t.SizeOf(y, 2)}, t.TensorInfo(x).dtype);
  const AxisRef b = t.Tile(t.SizeOf(x, 0), /*fixed_block=*/1);
  const AxisRef m = t.Tile(t.SizeOf(x, 1));
  const AxisRef n = t.Tile(t.SizeOf(y, 2));
  const Trace::Carried sum = t.For(t.SizeOf(x, 2), {t.Full({b, m, n}, 0, DType::kF32)},
                                   [&](AxisRef k, const Trace::Carried& so_far) -> Trace::Carried {
                                     return {t.Dot(t.Load(x, {b, m, k}), t.Load(y, {b, k, n}), k, so_far[0])};
                                   });
  t.Store(out, {b, m, n}, sum[0]);
  return absl::OkStatus();
}

Outputs Reference(const Case& c) {
  const ProductShape shape = {.m = c.size("m"), .n = c.size("n"), .k = c.size("k")};
  ir::HostArray out = ir::HostArray::Dense(c.tensor("x").dtype, {c.size("b"), shape.m, shape.n});
  for (int64_t b = 0; b < c.size("b"); ++b) {
    WriteProduct(shape, c.data("x") + b * shape.m * shape.k, c.data("y") + b * shape.k * shape.n,
                 out.data.data() + b * shape.m * shape.n);
  }
  return {{"out", std::move(out)}};
}

}  // namespace

const LibraryKernel& Bmm() {
  static const auto* const kernel = new LibraryKernel{
      .name = "bmm",
      .summary = "out[b] = x[b] @ y[b], summed in float32",
      .tensors = {{"x", {"b", "m", "k"}}, {"y", {"b", "k", "n"}}},
      .default_sizes = {{"b", 16}, {"m", 512}, {"k", 768}, {"n", 1024}},
      .default_dtype = DType::kF16,
      .body = Body,
      .reference = Reference,
      .tolerance = [](const Problem& p, DType output) { return Summed(output, static_cast<double>(p.size("k"))); },
      .flops =
          [](const Problem& p) {
            return 2.0 * static_cast<double>(p.size("b") * p.size("m") * p.size("n") * p.size("k"));
          },
  };
  return *kernel;
}

}  // namespace telemetry::worker::kernels
