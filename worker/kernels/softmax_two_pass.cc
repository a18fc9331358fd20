#include <limits>

#include "worker/kernels/all.h"
#include "worker/kernels/softmax_reference.h"
#include "worker/kernels/tolerance.h"

namespace telemetry::worker::kernels {
namespace {

using ir::AxisRef;
using ir::TensorRef;
using ir::Trace;
using ir::Value;

// Carries a row's maximum and the sum of exp(x - maximum) through the first pass; the sum is rescaled whenever the
// maximum grows. The second pass computes the results.
absl::Status Body(Trace& t) {
  const TensorRef x = t.Tensor("x");
  const TensorRef out = t.OutputLike("out", x);
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const Value lowest = t.Full({m}, -std::numeric_limits<double>::infinity(), DType::kF32);
  const Value nothing = t.Full({m}, 0, DType::kF32);
  const Trace::Carried row =
      t.For(t.SizeOf(x, 1), {lowest, nothing}, [&](AxisRef n, const Trace::Carried& so_far) -> Trace::Carried {
        const Value values = t.Load(x, {m, n}).To(DType::kF32);
        const Value max = maximum(so_far[0], t.AMax(values, n));
        const Value sum = so_far[1] * exp(so_far[0] - max) + t.Sum(exp(values - max), n);
        return {max, sum};
      });
  t.For(t.SizeOf(x, 1), {}, [&](AxisRef n, const Trace::Carried&) -> Trace::Carried {
    const Value values = t.Load(x, {m, n}).To(DType::kF32);
    t.Store(out, {m, n}, exp(values - row[0]) / row[1]);
    return {};
  });
  return absl::OkStatus();
}

}  // namespace

const LibraryKernel& SoftmaxTwoPass() {
  static const auto* const kernel = new LibraryKernel{
      .name = "softmax_two_pass",
      .summary = "out = softmax of x along its rows, in two passes over tiles of a row",
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
