#include "worker/kernels/all.h"
#include "worker/kernels/softmax_reference.h"
#include "worker/kernels/tolerance.h"

namespace telemetry::worker::kernels {
namespace {

using ir::AxisRef;
using ir::TensorRef;
using ir::Value;

absl::Status Body(ir::Trace& t) {
  const TensorRef x = t.Tensor("x");
  const TensorRef out = t.OutputLike("out", x);
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
  const Value values = t.Load(x, {m, n}).To(DType::kF32);
  const Value e = exp(values - t.AMax(values, n));
  t.Store(out, {m, n}, e / t.Sum(e, n));
  return absl::OkStatus();
}

}  // namespace

const LibraryKernel& Softmax() {
  static const auto* const kernel = new LibraryKernel{
      .name = "softmax",
      .summary = "out = softmax of x along its rows",
      .tensors = {{"x", {"m", "n"}}},
      .default_sizes = {{"m", 4096}, {"n", 2560}},
      .default_dtype = DType::kF16,
      .low = -4,
      .high = 4,
      .body = Body,
      .reference = SoftmaxReference,
      .tolerance = SoftmaxTolerance,
      .flops = SoftmaxFlops,
  };
  return *kernel;
}

}  // namespace telemetry::worker::kernels
