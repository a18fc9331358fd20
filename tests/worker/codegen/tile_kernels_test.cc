#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/codegen/kernel_case.h"
#include "worker/codegen/emit/generate.h"

// Tests pointwise kernels and reductions over tiles at the sizes and layouts that are most error-prone.

namespace telemetry::worker::codegen {
namespace {

using device::Dialect;
using device::DType;
using ir::AxisRef;
using ir::TensorRef;
using ir::Value;
using testing::HasSubstr;
using testing::Not;

// Traces out[m, n] = x[m, n] + bias[n].
void AddBias(ir::Trace& t) {
  const TensorRef x = t.Tensor("x");
  const TensorRef bias = t.Tensor("bias");
  const TensorRef out = t.Output("out", {t.SizeOf(x, 0), t.SizeOf(x, 1)}, t.TensorInfo(x).dtype);
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const AxisRef n = t.Tile(t.SizeOf(x, 1));
  t.Store(out, {m, n}, t.Load(x, {m, n}) + t.Load(bias, {n}));
}

KernelCase AddBiasCase(DType dtype, int64_t m, int64_t n) {
  KernelCase kernel;
  kernel.Input("x", dtype, {m, n}).Input("bias", dtype, {n}).Trace(AddBias);
  return kernel;
}

class TileKernelTest : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(DTypes, TileKernelTest, testing::Values(DType::kF32, DType::kF16, DType::kBF16, DType::kI32),
                         [](const auto& info) { return std::string(ShortName(info.param)); });

TEST_P(TileKernelTest, Broadcasts) {
  const KernelCase kernel = AddBiasCase(GetParam(), 24, 64);
  kernel.ExpectReferenceResults();
  kernel.ExpectReferenceResults("Config(block_sizes=[8, 16], num_warps=1)");
}

TEST_P(TileKernelTest, ShapesThatNoTileDivides) {
  AddBiasCase(GetParam(), 13, 37).ExpectReferenceResults("Config(block_sizes=[8, 16], num_warps=2)");
  AddBiasCase(GetParam(), 5, 44).ExpectReferenceResults("Config(block_sizes=[2, 32], num_warps=1)");
}

TEST_P(TileKernelTest, StoresWhatMakesRoomFirst) {
  AddBiasCase(GetParam(), 24, 64).ExpectReferenceResults("Config(store_eviction_policies=['first'])");
  AddBiasCase(GetParam(), 13, 37)
      .ExpectReferenceResults("Config(block_sizes=[8, 16], num_warps=2, store_eviction_policies=['first'])");
}

TEST(Tile, SaysOfStoresThatTheyMakeRoomFirst) {
  const KernelCase kernel = AddBiasCase(DType::kF16, 24, 64);
  const auto source = [&kernel](Dialect dialect, const std::string& policy) {
    return emit::Generate(kernel.ir(), kernel.With("Config(store_eviction_policies=['" + policy + "'])"),
                          {.dialect = dialect})
        ->source;
  };
  EXPECT_THAT(source(Dialect::kCuda, "first"), HasSubstr("st.global.cs.v4.u32"));
  EXPECT_THAT(source(Dialect::kCuda, ""), Not(HasSubstr("st.global.cs")));
  EXPECT_EQ(source(Dialect::kOpenCl, "first"), source(Dialect::kOpenCl, ""));
}

// Checks divisors whose inverses are 0 or infinite in single precision.
TEST(Tile, DividesByTheLargestAndTheSmallest) {
  const auto divide = [](ir::Trace& t) {
    const TensorRef x = t.Tensor("x");
    const TensorRef y = t.Tensor("y");
    const TensorRef out = t.OutputLike("out", x);
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.Tile(t.SizeOf(x, 1));
    t.Store(out, {m, n}, (t.Load(x, {m, n}) * t.Scalar("size")) / (t.Load(y, {m}) * t.Scalar("size")));
  };
  for (const double size : {4e-36, 1.0, 1.6e38}) {
    KernelCase kernel;
    kernel.Input("x", DType::kF32, {24, 64}).Input("y", DType::kF32, {24}).Scalar("size", size).Trace(divide);
    kernel.ExpectReferenceResults();
  }
}

TEST(Tile, OfSizeOne) {
  AddBiasCase(DType::kF32, 1, 1).ExpectReferenceResults();
  AddBiasCase(DType::kF32, 1, 19).ExpectReferenceResults();
  AddBiasCase(DType::kF32, 19, 1).ExpectReferenceResults("Config(block_sizes=[16, 1])");
}

TEST(Tile, OfNothing) {
  AddBiasCase(DType::kF32, 0, 16).ExpectReferenceResults();
  AddBiasCase(DType::kF32, 16, 0).ExpectReferenceResults();
}

TEST(Tile, OfTensorsThatAreNotContiguous) {
  KernelCase transposed;
  transposed.Input("x", DType::kF16, {24, 40}, {1, 24}).Input("bias", DType::kF16, {40}, {3}).Trace(AddBias);
  transposed.ExpectReferenceResults();
  KernelCase gaps;
  gaps.Input("x", DType::kF32, {24, 40}, {44, 1}).Input("bias", DType::kF32, {40}, {0}).Trace(AddBias);
  gaps.ExpectReferenceResults();
}

// Traces out[m] = x[m, last - m]. Consecutive threads do not read consecutive elements.
void Antidiagonal(ir::Trace& t) {
  const TensorRef x = t.Tensor("x");
  const TensorRef out = t.Output("out", {t.SizeOf(x, 0)}, DType::kF32);
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const Value from_the_end = static_cast<int>(t.Specialize(t.SizeOf(x, 1))) - 1 - t.Index(m);
  t.Store(out, {m}, t.Load(x, {m, from_the_end}).To(DType::kF32));
}

TEST(Tile, OfGathersAlongTheAxisThatIsContiguous) {
  KernelCase kernel;
  kernel.Input("x", DType::kF16, {512, 512}, {1, 512}).Trace(Antidiagonal);
  kernel.ExpectReferenceResults("Config(block_sizes=[512], num_warps=1)");
}

// Traces out[m, n] = exp(x - max(x)) / sum along n.
void Softmax(ir::Trace& t) {
  const TensorRef x = t.Tensor("x");
  const TensorRef out = t.OutputLike("out", x);
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
  const Value v = t.Load(x, {m, n}).To(DType::kF32);
  const Value e = exp(v - t.AMax(v, n));
  t.Store(out, {m, n}, e / t.Sum(e, n));
}

KernelCase SoftmaxCase(DType dtype, int64_t m, int64_t n) {
  KernelCase kernel;
  kernel.Input("x", dtype, {m, n}).Trace(Softmax);
  return kernel;
}

TEST(Reduction, HeldAtOnce) {
  SoftmaxCase(DType::kF32, 9, 100).ExpectReferenceResults("Config(block_sizes=[1])");
  SoftmaxCase(DType::kF16, 9, 128).ExpectReferenceResults("Config(block_sizes=[4], num_warps=8)");
  SoftmaxCase(DType::kF32, 3, 1).ExpectReferenceResults();
}

TEST(Reduction, HeldAtOnceWithoutWhatLiesBeyondTheEnd) {
  const KernelCase kernel = SoftmaxCase(DType::kF32, 3, 640);
  kernel.ExpectReferenceResults("Config(block_sizes=[1], num_warps=1)");
  SoftmaxCase(DType::kF32, 3, 636).ExpectReferenceResults("Config(block_sizes=[1], num_warps=1)");
  const Config config = kernel.With("Config(block_sizes=[1], num_warps=1)");
  const auto generated = emit::Generate(kernel.ir(), config, {.dialect = Dialect::kCuda, .sm = 90});
  ASSERT_TRUE(generated.ok()) << generated.status();
  EXPECT_THAT(generated->source, HasSubstr("[20]")) << "5 times 4 for each of 32 threads";
  EXPECT_THAT(generated->source, Not(HasSubstr("< 640"))) << "no element is beyond the end";
}

TEST(Reduction, OfResultsThatNoPowerOfTwoNumbers) {
  KernelCase kernel;
  kernel.Input("x", DType::kF32, {2, 1024, 20}, {1024 * 20, 1, 1024}).Trace([](ir::Trace& t) {
    const TensorRef x = t.Tensor("x");
    const AxisRef b = t.Tile(t.SizeOf(x, 0));
    const AxisRef m = t.ReductionAxis(t.SizeOf(x, 1));
    const AxisRef n = t.ReductionAxis(t.SizeOf(x, 2));
    const Value most = t.AMax(t.Load(x, {b, m, n}), m);
    t.Store(t.Output("sums", {t.SizeOf(x, 0)}, DType::kF32), {b}, t.Sum(most, n));
  });
  kernel.ExpectReferenceResults("Config(block_sizes=[1], num_warps=8)");
}

TEST(Reduction, OfFastMath) {
  SoftmaxCase(DType::kF32, 9, 100).ExpectReferenceResults("Config(block_sizes=[1])", {1e-4, 1e-4}, {.fast_math = true});
}

TEST(Tile, StoresRoundedOnce) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    KernelCase kernel;
    kernel.Input("x", DType::kF32, {7, 50}).Trace([dtype](ir::Trace& t) {
      const TensorRef x = t.Tensor("x");
      const AxisRef m = t.Tile(t.SizeOf(x, 0));
      const AxisRef n = t.Tile(t.SizeOf(x, 1));
      const Value rounded = t.Load(x, {m, n}).To(dtype);
      t.Store(t.Output("out", {t.SizeOf(x, 0), t.SizeOf(x, 1)}, dtype), {m, n}, rounded);
      t.Store(t.Output("wide", {t.SizeOf(x, 0), t.SizeOf(x, 1)}, DType::kF32), {m, n}, rounded.To(DType::kF32));
    });
    kernel.ExpectReferenceResults("Config(block_sizes=[1, 64], num_warps=1)");
  }
}

TEST(Reduction, InChunks) {
  SoftmaxCase(DType::kF32, 9, 100).ExpectReferenceResults("Config(block_sizes=[2], reduction_loops=[32])");
  SoftmaxCase(DType::kBF16, 5, 300)
      .ExpectReferenceResults("Config(block_sizes=[1], reduction_loops=[64], num_warps=2)");
}

TEST(Reduction, OfEveryKindAlongEitherAxis) {
  for (const bool rows : {false, true}) {
    KernelCase kernel;
    kernel.Input("x", DType::kF32, rows ? std::vector<int64_t>{37, 70} : std::vector<int64_t>{70, 37});
    kernel.Trace([rows](ir::Trace& t) {
      const TensorRef x = t.Tensor("x");
      const AxisRef kept = t.Tile(t.SizeOf(x, rows ? 1 : 0));
      const AxisRef n = t.ReductionAxis(t.SizeOf(x, rows ? 0 : 1));
      const std::vector<ir::IndexArg> at =
          rows ? std::vector<ir::IndexArg>{n, kept} : std::vector<ir::IndexArg>{kept, n};
      const Value v = t.Load(x, at);
      const auto store = [&](const std::string& name, const Value& value) {
        t.Store(t.Output(name, {t.SizeOf(x, rows ? 1 : 0)}, value.dtype()), {kept}, value);
      };
      store("sum", t.Sum(v, n));
      store("max", t.AMax(v, n));
      store("min", t.AMin(v, n));
      store("prod", t.Prod(v * 0.1 + 1.0, n));
      store("argmax", t.ArgMax(v, n));
    });
    SCOPED_TRACE(rows);
    kernel.ExpectReferenceResults("Config(block_sizes=[16])");
    kernel.ExpectReferenceResults("Config(block_sizes=[2], num_warps=8)");
  }
}

}  // namespace
}  // namespace telemetry::worker::codegen
