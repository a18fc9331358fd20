#include <string>

#include "gtest/gtest.h"
#include "tests/worker/codegen/dot_kernels.h"
#include "tests/worker/codegen/kernel_case.h"
#include "worker/codegen/emit/generate.h"

// Tests the bytes that a kernel's code loads at least (GeneratedKernel::loaded_bytes).

namespace telemetry::worker::codegen {
namespace {

using device::DType;
using ir::AxisRef;
using ir::TensorRef;

int64_t LoadedBytes(const KernelCase& kernel, const std::string& config) {
  const Target target = {.dialect = device::Dialect::kCuda, .sm = 90, .shared_bytes_per_block = 227 << 10};
  return emit::Generate(kernel.ir(), kernel.With("Config(" + config + ")"), target).value().loaded_bytes;
}

TEST(LoadedBytes, EveryTileOfAProductLoadsItsRowsAndColumns) {
  const KernelCase kernel = MatmulCase(DType::kF16, 256, 512, 128);
  constexpr int64_t kBytesOfA = int64_t{256} * 128 * 2;
  constexpr int64_t kBytesOfB = int64_t{128} * 512 * 2;
  EXPECT_EQ(LoadedBytes(kernel, "block_sizes=[64, 128, 32]"), 4 * kBytesOfA + 4 * kBytesOfB);
  EXPECT_EQ(LoadedBytes(kernel, "block_sizes=[64, 128, 64]"), 4 * kBytesOfA + 4 * kBytesOfB);
  EXPECT_EQ(LoadedBytes(kernel, "block_sizes=[16, 256, 32]"), 2 * kBytesOfA + 16 * kBytesOfB);
  // The last tile ends beyond the tensor.
  EXPECT_EQ(LoadedBytes(MatmulCase(DType::kF16, 250, 512, 128), "block_sizes=[64, 512, 32]"),
            int64_t{250} * 128 * 2 + 4 * kBytesOfB);
}

TEST(LoadedBytes, LoadsThatDoNotDependOnALoopCountOnce) {
  const KernelCase kernel = AttentionCase(DType::kF16, 2, 64, 96, 32);
  constexpr int64_t kBytesOfQueries = int64_t{2} * 64 * 32 * 2;
  constexpr int64_t kBytesOfKeys = int64_t{2} * 96 * 32 * 2;
  EXPECT_EQ(LoadedBytes(kernel, "block_sizes=[32, 32]"), kBytesOfQueries + 4 * kBytesOfKeys);
}

// Loads of several loops over the same axis count once, because a compiler may keep the values.
TEST(LoadedBytes, CountsEqualLoadsOnce) {
  KernelCase kernel;
  kernel.Input("x", DType::kF32, {48, 1000}).Trace([](ir::Trace& t) {
    const TensorRef x = t.Tensor("x");
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
    const auto largest = t.AMax(t.Load(x, {m, n}), n);
    t.Store(t.Output("sums", {t.SizeOf(x, 0)}, DType::kF32), {m}, t.Sum(t.Load(x, {m, n}) - largest, n));
  });
  EXPECT_EQ(LoadedBytes(kernel, "block_sizes=[4]"), 48 * 1000 * 4);
  EXPECT_EQ(LoadedBytes(kernel, "block_sizes=[4], reduction_loops=[256]"), 48 * 1000 * 4);
}

TEST(LoadedBytes, ElementsThatAllRowsShareAreLoadedByEachTile) {
  KernelCase kernel;
  kernel.Input("x", DType::kF32, {64, 32}).Input("row", DType::kF32, {64, 32}, {0, 1}).Trace([](ir::Trace& t) {
    const TensorRef x = t.Tensor("x");
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.Tile(t.SizeOf(x, 1));
    t.Store(t.Output("out", {t.SizeOf(x, 0), t.SizeOf(x, 1)}, DType::kF32), {m, n},
            t.Load(x, {m, n}) + t.Load(t.Tensor("row"), {m, n}));
  });
  EXPECT_EQ(LoadedBytes(kernel, "block_sizes=[16, 32]"), 64 * 32 * 4 + 4 * 32 * 4);
}

// A block of a persistent grid may keep the bias for all of its tiles.
TEST(LoadedBytes, APersistentBlockMayKeepWhatAllTilesLoad) {
  KernelCase kernel;
  kernel.Input("x", DType::kF32, {64, 32}).Input("bias", DType::kF32, {32}).Trace([](ir::Trace& t) {
    const TensorRef x = t.Tensor("x");
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
    t.Store(t.Output("out", {t.SizeOf(x, 0)}, DType::kF32), {m},
            t.Sum(t.Load(x, {m, n}) * t.Load(t.Tensor("bias"), {n}), n));
  });
  EXPECT_EQ(LoadedBytes(kernel, "block_sizes=[16]"), 64 * 32 * 4 + 4 * 32 * 4);
  EXPECT_EQ(LoadedBytes(kernel, "block_sizes=[16], pid_type='persistent_blocked'"), 64 * 32 * 4 + 32 * 4);
}

TEST(LoadedBytes, RowsThatOverlapCountTheirElementsOnce) {
  KernelCase kernel;
  kernel.Input("x", DType::kF32, {64, 32}, {4, 1}).Trace([](ir::Trace& t) {
    const TensorRef x = t.Tensor("x");
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
    t.Store(t.Output("out", {t.SizeOf(x, 0)}, DType::kF32), {m}, t.Sum(t.Load(x, {m, n}), n));
  });
  EXPECT_EQ(LoadedBytes(kernel, "block_sizes=[16]"), (63 * 4 + 31 + 1) * 4);
}

// The rows of a begin 40 elements apart.
TEST(LoadedBytes, IsZeroForEmptyTensors) {
  KernelCase kernel;
  kernel.Input("a", DType::kF16, {0, 32}, {40, 1}).Input("b", DType::kF16, {32, 64}).Trace(Matmul);
  EXPECT_EQ(LoadedBytes(kernel, "block_sizes=[1, 32, 16]"), 0);
}

TEST(LoadedBytes, IsNotKnownForSizesThatOnlyTheLaunchKnows) {
  KernelCase kernel;
  kernel.Input("a", DType::kF16, {64, 64}).Input("b", DType::kF16, {64, 64}).SizesAtLaunch().Trace(Matmul);
  EXPECT_EQ(LoadedBytes(kernel, "block_sizes=[32, 32, 32]"), 0);
}

}  // namespace
}  // namespace telemetry::worker::codegen
