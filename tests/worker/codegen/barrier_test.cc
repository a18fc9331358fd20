#include "gtest/gtest.h"
#include "tests/worker/codegen/kernel_case.h"

// Loops and branches in which threads wait for each other, and behind them what only some threads do. The rows of x
// fill no whole number of tiles, and `out` is transposed: a thread that should have stayed away writes over another's
// result.

namespace telemetry::worker::codegen {
namespace {

using ir::AxisRef;
using ir::TensorRef;
using ir::Trace;
using ir::Value;

KernelCase CaseOf(const std::function<void(Trace&)>& kernel) {
  KernelCase result;
  result.Input("x", DType::kF32, {61, 14}).SizesAtLaunch().Scalar("one", 1).Trace(kernel);
  return result;
}

// out[n, m] = x[m, n] - max(x[m, :]): a loop that reduces, then one that stores.
TEST(Barrier, InALoopBeforeALoop) {
  CaseOf([](Trace& t) {
    const TensorRef x = t.Tensor("x");
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
    const Value v = t.Load(x, {m, n});
    t.Store(t.Output("out", {t.SizeOf(x, 1), t.SizeOf(x, 0)}, DType::kF32), {n, m}, v - t.AMax(v, n));
  })
      .ExpectReferenceResults(
          "Config(block_sizes=[8], num_warps=8, reduction_loops=[8], pid_type='persistent_interleaved')");
}

// The branch that reduces, then one under the same condition that stores.
TEST(Barrier, InABranchBeforeABranch) {
  CaseOf([](Trace& t) {
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
