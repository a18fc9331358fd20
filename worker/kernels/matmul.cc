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
  const TensorRef out = t.Output("out", {t.SizeOf(x, 0), t.SizeOf(y, 1)}, t.TensorInfo(x).dtype);
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const AxisRef n = t.Tile(t.SizeOf(y, 1));
  const Trace::Carried sum = t.For(t.SizeOf(x, 1), {t.Full({m, n}, 0, DType::kF32)},
                                   [&](AxisRef k, const Trace::Carried& so_far) -> Trace::Carried {
                                     return {t.Dot(t.Load(x, {m, k}), t.Load(y, {k, n}), k, so_far[0])};
                                   });
  t.Store(out, {m, n}, sum[0]);
  return absl::OkStatus();
}

Outputs Reference(const Case& c) {
  ir::HostArray out = ir::HostArray::Dense(c.tensor("x").dtype, {c.size("m"), c.size("n")});
  WriteProduct({.m = c.size("m"), .n = c.size("n"), .k = c.size("k")}, c.data("x"), c.data("y"), out.data.data());
  return {{"out", std::move(out)}};
}

}  // namespace

const LibraryKernel& Matmul() {
  static const auto* const kernel = new LibraryKernel{
      .name = "matmul",
      .summary = "out = x @ y, summed in float32",
      .tensors = {{"x", {"m", "k"}}, {"y", {"k", "n"}}},
      .default_sizes = {{"m", 1024}, {"k", 1024}, {"n", 1024}},
      .default_dtype = DType::kF16,
      .body = Body,
      .reference = Reference,
      .tolerance = [](const Problem& p, DType output) { return Summed(output, static_cast<double>(p.size("k"))); },
      .flops = [](const Problem& p) { return 2.0 * static_cast<double>(p.size("m") * p.size("n") * p.size("k")); },
  };
  return *kernel;
}

}  // namespace telemetry::worker::kernels
