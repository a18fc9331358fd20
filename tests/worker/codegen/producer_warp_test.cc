#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/worker/codegen/dot_kernels.h"
#include "tests/worker/codegen/kernel_case.h"
#include "tests/worker/codegen/proof_test.h"
#include "worker/codegen/config_space.h"
#include "worker/codegen/emit/generate.h"
#include "worker/codegen/promising_configs.h"

// Tests loops whose tiles a producer warp copies with TMA (producer_warp).

namespace telemetry::worker::codegen {
namespace {

using device::DType;
using ir::AxisRef;
using ir::TensorRef;
using ir::Trace;

using RowStrides = std::vector<int64_t>;

constexpr ir::Tolerance kProductTolerance = {.absolute = 4e-3, .relative = 4e-3};
constexpr Target kWithTma = {
    .dialect = device::Dialect::kCuda, .sm = 90, .compute_units = 132, .shared_bytes_per_block = 227 << 10};

class ProducerWarpCode : public ProofTest {
 protected:
  bool HasInstructions(const Target& target) const override { return target.sm == 90; }
  void ExpectProductsRight(const KernelCase& kernel, const std::string& config) const {
    SCOPED_TRACE(config);
    ExpectRight(kernel, "Config(" + config + ", producer_warp=True)", kProductTolerance);
  }
};
INSTANTIATE_TEST_SUITE_P(Proofs, ProducerWarpCode,
                         testing::Values(Proof::kCompiles, Proof::kRunsOnGpu, Proof::kRunsInOpenCl), ProofName);

// Checks rows in shared memory of 32, 64 and 128 bytes, and of several such parts; tiles that end beyond the tensors,
// and tiles with parts that begin there.
TEST_P(ProducerWarpCode, TilesOfAnySize) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    SCOPED_TRACE(ShortName(dtype));
    const KernelCase kernel = MatmulCase(dtype, 200, 136, 144);
    for (const char* config :
         {"block_sizes=[64, 16, 16], num_warps=4, num_stages=2", "block_sizes=[64, 32, 32], num_warps=8, num_stages=3",
          "block_sizes=[64, 64, 64], num_warps=4, num_stages=4",
          "block_sizes=[64, 64, 128], num_warps=16, num_stages=2",
          "block_sizes=[128, 128, 64], num_warps=8, num_stages=2",
          "block_sizes=[64, 256, 16], num_warps=8, num_stages=3"}) {
      ExpectProductsRight(kernel, config);
    }
  }
}

TEST_P(ProducerWarpCode, LoopsOfAnyLength) {
  for (const int64_t depth : {32, 64, 128, 208}) {
    SCOPED_TRACE(depth);
    const KernelCase kernel = MatmulCase(DType::kF16, 64, 64, depth);
    for (const char* stages : {"2", "3", "5"}) {
      ExpectProductsRight(kernel, "block_sizes=[64, 64, 32], num_stages=" + std::string(stages));
    }
  }
}

TEST_P(ProducerWarpCode, TilesOfAPersistentBlock) {
  const KernelCase kernel = MatmulCase(DType::kF16, 1000, 520, 112);
  for (const char* config :
       {"pid_type='persistent_blocked'", "pid_type='persistent_interleaved', l2_groupings=[4]",
        "pid_type='persistent_interleaved', loop_orders=[[1, 0]]", "pid_type='flat', l2_groupings=[2]"}) {
    ExpectProductsRight(kernel, "block_sizes=[64, 32, 32], num_stages=3, " + std::string(config));
  }
}

TEST_P(ProducerWarpCode, OperandsOfAnyOrder) {
  for (const bool a_by_rows : {false, true}) {
    for (const bool b_by_rows : {false, true}) {
      SCOPED_TRACE(testing::Message() << a_by_rows << b_by_rows);
      KernelCase kernel;
      kernel.Input("a", DType::kF16, {136, 80}, a_by_rows ? RowStrides{88, 1} : RowStrides{1, 136})
          .Input("b", DType::kF16, {80, 72}, b_by_rows ? RowStrides{72, 1} : RowStrides{1, 80})
          .Trace(Matmul);
      ExpectProductsRight(kernel, "block_sizes=[128, 128, 32], num_warps=8, num_stages=2");
      ExpectProductsRight(kernel, "block_sizes=[64, 128, 16], num_warps=8, num_stages=3");
    }
  }
}

// Traces out[b] = x[b] * y[b] + bias.
void BatchesWithBias(Trace& t) {
  const TensorRef x = t.Tensor("x");
  const TensorRef y = t.Tensor("y");
  const TensorRef bias = t.Tensor("bias");
  const TensorRef out = t.Output("out", {t.SizeOf(x, 0), t.SizeOf(x, 1), t.SizeOf(y, 2)}, DType::kF16);
  const AxisRef b = t.Tile(t.SizeOf(x, 0), 1);
  const AxisRef m = t.Tile(t.SizeOf(x, 1));
  const AxisRef n = t.Tile(t.SizeOf(y, 2));
  const Trace::Carried sum = t.For(t.SizeOf(x, 2), {t.Full({b, m, n}, 0, DType::kF32)},
                                   [&](AxisRef k, const Trace::Carried& so_far) -> Trace::Carried {
                                     return {t.Dot(t.Load(x, {b, m, k}), t.Load(y, {b, k, n}), k, so_far[0])};
                                   });
  t.Store(out, {b, m, n}, sum[0] + t.Load(bias, {n}));
}

constexpr int64_t kBatches = 3;
constexpr int64_t kRows = 72;
constexpr int64_t kDepth = 48;

KernelCase BatchesCase(const RowStrides& strides = {kRows * kDepth, kDepth, 1}) {
  KernelCase kernel;
  kernel.Input("x", DType::kF16, {kBatches, kRows, kDepth}, strides)
      .Input("y", DType::kF16, {kBatches, kDepth, 64})
      .Input("bias", DType::kF32, {64})
      .Trace(BatchesWithBias);
  return kernel;
}

// Checks batches whose rows are next to each other in memory, and batches whose rows alternate.
TEST_P(ProducerWarpCode, BatchesAndCodeAfterTheLoop) {
  for (const RowStrides& strides : {RowStrides{kRows * kDepth, kDepth, 1}, RowStrides{kDepth, kBatches * kDepth, 1}}) {
    for (const char* config :
         {"block_sizes=[64, 64, 16], num_stages=2", "block_sizes=[64, 64, 32], num_warps=8, num_stages=3",
          "block_sizes=[64, 64, 16], num_stages=2, pid_type='persistent_interleaved'"}) {
      ExpectProductsRight(BatchesCase(strides), config);
    }
  }
}

constexpr char kTmaConfig[] = "Config(block_sizes=[128, 128, 64], num_warps=8, num_stages=2";

std::string SourceWith(const KernelCase& kernel, const std::string& config = kTmaConfig) {
  return CudaSource(kernel, config + ", producer_warp=True)", {}, 90);
}

bool Includes(const std::string& text, const std::string& piece) { return text.find(piece) != std::string::npos; }

bool HasProducer(const KernelCase& kernel, const std::string& config = kTmaConfig) {
  return Includes(SourceWith(kernel, config), "cp.async.bulk.tensor");
}

TEST(ProducerWarp, CopiesInsteadOfTheOtherWarps) {
  const std::string source = SourceWith(MatmulCase(DType::kF16, 256, 256, 256));
  EXPECT_TRUE(Includes(source, "__launch_bounds__(288)")) << source;
  EXPECT_TRUE(Includes(source, "bar.sync 1, 256;")) << source;
  EXPECT_TRUE(Includes(source, "expect_bytes(filled + slot, 32768);")) << source;
  EXPECT_FALSE(Includes(source, "copy_async")) << source;
  EXPECT_FALSE(Includes(source.substr(source.find("__global__")), "BARRIER();")) << source;
}

TEST(ProducerWarp, KeepsOneProductInFlight) {
  const std::string source = SourceWith(MatmulCase(DType::kF16, 256, 256, 256));
  const size_t loop = source.find("wait_for_phase(filled");
  const size_t in_loop = source.find("finish_wgmma_but_1();", loop);
  const size_t after_loop = source.find("finish_wgmma();", loop);
  ASSERT_NE(after_loop, std::string::npos) << source;
  EXPECT_LT(in_loop, after_loop) << source;
}

TEST(ProducerWarp, IsOffByDefault) {
  const KernelCase kernel = MatmulCase(DType::kF16, 256, 256, 256);
  const std::string source = CudaSource(kernel, std::string(kTmaConfig) + ")", {}, 90);
  EXPECT_FALSE(Includes(source, "cp.async.bulk.tensor")) << source;
  EXPECT_EQ(source, CudaSource(kernel, std::string(kTmaConfig) + ", producer_warp=False)", {}, 90));
}

TEST(ProducerWarp, HasNoEffectWhereTheConfigDoesNotSuit) {
  const KernelCase kernel = MatmulCase(DType::kF16, 256, 512, 256);
  EXPECT_TRUE(HasProducer(kernel));
  for (const char* config :
       {"Config(block_sizes=[128, 128, 64], num_warps=8, num_stages=1",    // nothing is prefetched
        "Config(block_sizes=[64, 64, 64], num_warps=2, num_stages=2",      // no wgmma
        "Config(block_sizes=[64, 64, 64], num_warps=32, num_stages=2"}) {  // no room for one more warp
    SCOPED_TRACE(config);
    EXPECT_EQ(SourceWith(kernel, config), CudaSource(kernel, std::string(config) + ")", {}, 90));
  }
  const std::string other = CudaSource(kernel, std::string(kTmaConfig) + ", producer_warp=True)", {}, 80);
  EXPECT_EQ(other, CudaSource(kernel, std::string(kTmaConfig) + ")", {}, 80));
}

// Returns a kernel whose loop carries the sums of its products twice, or only the last product.
KernelCase OtherSumsCase(bool carries_two) {
  KernelCase kernel;
  kernel.Input("a", DType::kF16, {64, 64}).Input("b", DType::kF16, {64, 64}).Trace([carries_two](Trace& t) {
    const TensorRef a = t.Tensor("a");
    const TensorRef b = t.Tensor("b");
    const AxisRef m = t.Tile(t.SizeOf(a, 0));
    const AxisRef n = t.Tile(t.SizeOf(b, 1));
    const auto zero = t.Full({m, n}, 0, DType::kF32);
    const Trace::Carried begin = carries_two ? Trace::Carried{zero, zero} : Trace::Carried{zero};
    const Trace::Carried sums =
        t.For(t.SizeOf(a, 1), begin, [&](AxisRef k, const Trace::Carried& so_far) -> Trace::Carried {
          const auto sum = t.Dot(t.Load(a, {m, k}), t.Load(b, {k, n}), k, carries_two ? so_far[0] : zero);
          return carries_two ? Trace::Carried{sum, sum} : Trace::Carried{sum};
        });
    t.Store(t.Output("out", {t.SizeOf(a, 0), t.SizeOf(b, 1)}, DType::kF16), {m, n}, sums.back());
  });
  return kernel;
}

// Returns whether the search space of the kernel for sm_90 has the key.
bool IsChoice(const ir::DeviceIr& ir, const Target& target = kWithTma) {
  const ConfigSpace space = ConfigSpaceFor(ir, target);
  for (const ConfigParameter& parameter : space.parameters()) {
    if (parameter.key == "producer_warp") return parameter.choices.size() == 2;
  }
  return false;
}

TEST(ProducerWarp, IsAChoiceWhereTmaCanCopy) {
  EXPECT_TRUE(IsChoice(MatmulCase(DType::kF16, 64, 64, 64).ir()));
  EXPECT_TRUE(IsChoice(BatchesCase().ir()));
  EXPECT_FALSE(IsChoice(MatmulCase(DType::kF16, 64, 64, 64).ir(), {.dialect = device::Dialect::kCuda, .sm = 100}));
  EXPECT_FALSE(IsChoice(MatmulCase(DType::kF16, 64, 64, 64).ir(), Target()));
  // Rows that do not begin at multiples of 16 bytes, elements of 4 bytes, and two dots.
  EXPECT_FALSE(IsChoice(MatmulCase(DType::kF16, 64, 60, 64).ir()));
  EXPECT_FALSE(IsChoice(MatmulCase(DType::kF16, 64, 64, 60).ir()));
  EXPECT_FALSE(IsChoice(MatmulCase(DType::kF32, 64, 64, 64).ir()));
  EXPECT_FALSE(IsChoice(DotOfDotCase(DType::kF16).ir()));
  EXPECT_FALSE(IsChoice(OtherSumsCase(/*carries_two=*/true).ir()));
  EXPECT_FALSE(IsChoice(OtherSumsCase(/*carries_two=*/false).ir()));
  KernelCase at_launch;
  at_launch.Input("a", DType::kF16, {64, 64}).Input("b", DType::kF16, {64, 64}).SizesAtLaunch().Trace(Matmul);
  EXPECT_FALSE(IsChoice(at_launch.ir()));
}

TEST(ProducerWarp, ASearchOfProductsBeginsWithConfigsThatHaveIt) {
  const ConfigSpace large = ConfigSpaceFor(MatmulCase(DType::kF16, 4096, 4096, 4096).ir(), kWithTma);
  const std::vector<Config> configs = PromisingConfigs(large);
  ASSERT_EQ(configs.size(), 3u);
  const std::string first = configs[0].ToString();
  EXPECT_TRUE(Includes(first, "block_sizes=[128, 256, 64]")) << first;
  EXPECT_TRUE(Includes(first, "pid_type='persistent_interleaved', producer_warp=True")) << first;
  // Blocks are not longer than the axes.
  const std::vector<Config> of_batches = PromisingConfigs(ConfigSpaceFor(BatchesCase().ir(), kWithTma));
  ASSERT_FALSE(of_batches.empty());
  EXPECT_TRUE(Includes(of_batches[0].ToString(), "block_sizes=[128, 64, 64]")) << of_batches[0].ToString();
  EXPECT_TRUE(PromisingConfigs(ConfigSpaceFor(MatmulCase(DType::kF16, 64, 64, 64).ir(), Target())).empty());
  EXPECT_TRUE(PromisingConfigs(ConfigSpaceFor(DotOfDotCase(DType::kF16).ir(), Target())).empty());
}

TEST(ProducerWarp, IsNotAChoiceForStridesThatTmaDoesNotHave) {
  // Every row is the same one; and rows that overlap.
  for (const RowStrides& strides : {RowStrides{0, 1}, RowStrides{16, 1}}) {
    KernelCase kernel;
    kernel.Input("a", DType::kF16, {64, 64}, strides).Input("b", DType::kF16, {64, 64}).Trace(Matmul);
    EXPECT_FALSE(IsChoice(kernel.ir())) << strides[0];
  }
}

// A persistent grid has one block for each that shared memory has room for: the ring of three stages needs 96 KiB.
TEST(ProducerWarp, PersistentGridHasTheBlocksThatFit) {
  const KernelCase kernel = MatmulCase(DType::kF16, 4096, 4096, 256);
  const auto tiles = [&kernel](const std::string& stages) {
    const std::string config = "Config(block_sizes=[128, 128, 64], num_warps=8, num_stages=" + stages +
                               ", pid_type='persistent_interleaved', producer_warp=True)";
    return emit::Generate(kernel.ir(), kernel.With(config), kWithTma)->persistent_tiles;
  };
  EXPECT_EQ(tiles("3"), 2 * 132);
  EXPECT_EQ(tiles("4"), 132);
}

}  // namespace
}  // namespace telemetry::worker::codegen
