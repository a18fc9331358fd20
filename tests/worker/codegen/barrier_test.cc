#include "gtest/gtest.h"
#include "tests/worker/codegen/kernel_case.h"

// Tests code that only some threads execute after loops and branches with barriers. The number of rows of x is not a
// multiple of the tile and `out` is transposed, so a thread that wrongly executes the code overwrites the result of
// another thread.

namespace telemetry::worker::codegen {
namespace {

using device::DType;
using ir::AxisRef;
using ir::TensorRef;
using ir::Trace;
using ir::Value;

KernelCase MakeKernelCase(const std::function<void(Trace&)>& kernel) {
  KernelCase result;
  result.Input("x", DType::kF32, {61, 14}).SizesAtLaunch().Scalar("one", 1).Trace(kernel);
  return result;
}

// Checks a loop that reduces, followed by a loop that stores: out[n, m] = x[m, n] - max(x[m, :]).
TEST(Barrier, InALoopBeforeALoop) {
  MakeKernelCase([](Trace& t) {
    const TensorRef x = t.Tensor("x");
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
    const Value v = t.Load(x, {m, n});
    t.Store(t.Output("out", {t.SizeOf(x, 1), t.SizeOf(x, 0)}, DType::kF32), {n, m}, v - t.AMax(v, n));
  })
      .ExpectReferenceResults(
          "Config(block_sizes=[8], num_warps=8, reduction_loops=[8], pid_type='persistent_interleaved')");
}

// Checks a branch that reduces, followed by a branch under the same condition that stores.
TEST(Barrier, InABranchBeforeABranch) {
  MakeKernelCase([](Trace& t) {
    const TensorRef x = t.Tensor("x");
    const TensorRef out = t.Output("out", {t.SizeOf(x, 1), t.SizeOf(x, 0)}, DType::kF32);
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.ReductionAxis({.text = "14", .value = 14});
    const Value v = t.Load(x, {m, n});
    const Value is_one = t.Scalar("one") > 0.5;
    const auto nothing = [&]() -> Trace::Carried { return {t.Full({m}, 0, DType::kF32)}; };
    const Trace::Carried sums = t.If(
        is_one, [&]() -> Trace::Carried { return {t.Sum(v, n)}; }, nothing);
    t.If(
        is_one,
        [&]() -> Trace::Carried {
          t.For(t.SizeOf(x, 1), {}, [&](AxisRef column, const Trace::Carried&) -> Trace::Carried {
            t.Store(out, {column, m}, t.Load(x, {m, column}) + sums[0]);
            return {};
          });
          return {sums[0]};
        },
        nothing);
  }).ExpectReferenceResults("Config(block_sizes=[8, 4], num_warps=8, pid_type='persistent_interleaved')");
}

}  // namespace
}  // namespace telemetry::worker::codegen
