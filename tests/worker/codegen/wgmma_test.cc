#include <string>

#include "gtest/gtest.h"
#include "tests/worker/codegen/dot_kernels.h"
#include "tests/worker/codegen/kernel_case.h"
#include "tests/worker/codegen/proof_test.h"

// Tests dots whose tiles suit wgmma, the tensor core instruction of sm_90. Other devices use other instructions for the
// same tiles.

namespace telemetry::worker::codegen {
namespace {

using device::DType;

constexpr ir::Tolerance kTolerance = {.absolute = 4e-3, .relative = 4e-3};

class WgmmaCode : public ProofTest {
 protected:
  bool HasInstructions(const Target& target) const override { return target.sm == 90; }
};
INSTANTIATE_TEST_SUITE_P(Proofs, WgmmaCode, testing::Values(Proof::kCompiles, Proof::kRunsOnGpu, Proof::kRunsInOpenCl),
                         ProofName);

constexpr DType kDTypes[] = {DType::kF16, DType::kBF16};

// Checks rows in shared memory of 32, 64 and 128 bytes, and of several such blocks; one warpgroup, and several along
// rows and along columns.
TEST_P(WgmmaCode, TilesOfAnySize) {
  const KernelCase f16 = MatmulCase(DType::kF16, 96, 136, 144);
  const KernelCase bf16 = MatmulCase(DType::kBF16, 96, 136, 144);
  for (const char* config :
       {"block_sizes=[64, 16, 16], num_warps=4", "block_sizes=[64, 32, 32], num_warps=8",
        "block_sizes=[64, 64, 64], num_warps=4", "block_sizes=[64, 64, 128], num_warps=16",
        "block_sizes=[128, 128, 64], num_warps=8", "block_sizes=[64, 256, 16], num_warps=8",
        "block_sizes=[128, 16, 32], num_warps=4", "block_sizes=[64, 128, 128], num_warps=4, num_stages=1"}) {
    SCOPED_TRACE(config);
    ExpectRight(f16, "Config(" + std::string(config) + ")", kTolerance);
    ExpectRight(bf16, "Config(" + std::string(config) + ")", kTolerance);
  }
}

TEST_P(WgmmaCode, MoreColumnsThanAnInstructionHas) {
  ExpectRight(MatmulCase(DType::kF16, 64, 520, 40), "Config(block_sizes=[64, 512, 16], num_warps=4, num_stages=1)",
              kTolerance);
}

TEST_P(WgmmaCode, OperandsOfAnyOrder) {
  for (const bool a_by_rows : {false, true}) {
    for (const bool b_by_rows : {false, true}) {
      SCOPED_TRACE(testing::Message() << a_by_rows << b_by_rows);
      using Strides = std::vector<int64_t>;
      KernelCase kernel;
      kernel.Input("a", DType::kF16, {136, 80}, a_by_rows ? Strides{80, 1} : Strides{1, 136})
          .Input("b", DType::kF16, {80, 72}, b_by_rows ? Strides{72, 1} : Strides{1, 80})
          .Trace(Matmul);
      ExpectRight(kernel, "Config(block_sizes=[128, 128, 32], num_warps=8)", kTolerance);
      ExpectRight(kernel, "Config(block_sizes=[64, 128, 16], num_warps=16)", kTolerance);
    }
  }
}

TEST_P(WgmmaCode, StagesAndTilesOfAPersistentBlock) {
  for (const char* stages : {"1", "2", "4"}) {
    SCOPED_TRACE(stages);
    ExpectRight(
        MatmulCase(DType::kF16, 200, 100, 112),
        "Config(block_sizes=[64, 32, 32], pid_type='persistent_blocked', num_stages=" + std::string(stages) + ")",
        kTolerance);
  }
}

TEST_P(WgmmaCode, DotsOfDots) {
  const ir::Tolerance tolerance = {.absolute = 5e-2, .relative = 1e-2};
  for (const DType dtype : kDTypes) {
    SCOPED_TRACE(ShortName(dtype));
    const KernelCase kernel = DotOfDotCase(dtype);
    ExpectRight(kernel, "Config(block_sizes=[64, 64], num_stages=3)", tolerance);
    ExpectRight(kernel, "Config(block_sizes=[128, 16], num_warps=8, num_stages=2)", tolerance);
    ExpectRight(kernel, "Config(block_sizes=[128, 64], num_warps=4, num_stages=2)", tolerance);
  }
}

// Checks a dot with rows from outside the loop and a dot with rows that the loop computes.
TEST_P(WgmmaCode, Attention) {
  const ir::Tolerance tolerance = {.absolute = 1e-2, .relative = 1e-2};
  const KernelCase kernel = AttentionCase(DType::kF16, 2, 100, 150, 64);
  for (const char* config :
       {"block_sizes=[64, 64], num_stages=3", "block_sizes=[128, 16], num_warps=8, num_stages=2",
        "block_sizes=[128, 64], num_warps=4, num_stages=2", "block_sizes=[128, 128], num_warps=8, num_stages=1",
        "block_sizes=[64, 32], num_stages=2, pid_type='persistent_blocked'"}) {
    SCOPED_TRACE(config);
    ExpectRight(kernel, "Config(" + std::string(config) + ")", tolerance);
  }
}

// Traces out[m] = the sum of a * b over all rows of b, for a[m, d] and b[n, d]. The columns of the dot are loaded
// outside the loop over n, inside a loop over the batches.
void SumOfDots(ir::Trace& t) {
  const ir::TensorRef a = t.Tensor("a");
  const ir::TensorRef b = t.Tensor("b");
  const ir::TensorRef out = t.Output("out", {t.SizeOf(a, 1)}, DType::kF32);
  const ir::AxisRef m = t.Tile(t.SizeOf(a, 1));
  const ir::AxisRef d = t.ReductionAxis(t.SizeOf(a, 2));
  const auto add_batch = [&](ir::AxisRef e, const ir::Trace::Carried& batches) -> ir::Trace::Carried {
    const ir::Value columns = t.Load(a, {e, m, d});
    return t.For(t.SizeOf(b, 1), batches, [&](ir::AxisRef n, const ir::Trace::Carried& so_far) -> ir::Trace::Carried {
      const ir::Value products = t.Dot(t.Load(b, {e, n, d}), columns, d);
      return {so_far[0] + t.Sum(t.Sum(products, n), e)};
    });
  };
  const ir::Trace::ForOptions one_by_one = {.fixed_block = 1};
  t.Store(out, {m}, t.For(t.SizeOf(a, 0), {t.Full({m}, 0, DType::kF32)}, add_batch, one_by_one)[0]);
}

KernelCase SumOfDotsCase() {
  KernelCase kernel;
  kernel.Input("a", DType::kF16, {3, 72, 48}).Input("b", DType::kF16, {3, 136, 48}).Trace(SumOfDots);
  return kernel;
}

TEST_P(WgmmaCode, ColumnsFromOutsideTheLoop) {
  for (const char* stages : {"1", "2", "3"}) {
    SCOPED_TRACE(stages);
    ExpectRight(SumOfDotsCase(), "Config(block_sizes=[16, 64], num_stages=" + std::string(stages) + ")",
                {.absolute = 2e-2, .relative = 1e-2});
  }
}

std::string SourceFor(int sm, const std::string& config) {
  return CudaSource(MatmulCase(DType::kF16, 256, 256, 256), config, {}, sm);
}

bool Has(const std::string& text, const std::string& piece) { return text.find(piece) != std::string::npos; }

TEST(Wgmma, IsUsedWhereTargetAndTileSuit) {
  const std::string source = SourceFor(90, "Config(block_sizes=[128, 128, 64], num_warps=8)");
  EXPECT_TRUE(Has(source, "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16")) << source;
  EXPECT_FALSE(Has(source, "mma.sync")) << source;
  const std::string suits = "Config(block_sizes=[64, 64, 32], num_warps=4)";
  EXPECT_TRUE(Has(SourceFor(90, suits), "wgmma"));
  for (const int sm : {80, 89, 100, 120}) EXPECT_FALSE(Has(SourceFor(sm, suits), "wgmma")) << sm;
  for (const char* config :
       {"Config(block_sizes=[64, 64, 32], num_warps=2)", "Config(block_sizes=[32, 64, 32], num_warps=4)",
        "Config(block_sizes=[64, 8, 32], num_warps=4)"}) {
    const std::string other = SourceFor(90, config);
    EXPECT_FALSE(Has(other, "wgmma")) << config;
    EXPECT_TRUE(Has(other, "mma.sync")) << config;
  }
}

TEST(Wgmma, LeavesTf32ToMma) {
  const std::string source =
      CudaSource(MatmulCase(DType::kF32, 64, 64, 64), "Config(block_sizes=[64, 64, 32])", {.allow_tf32 = true}, 90);
  EXPECT_FALSE(Has(source, "wgmma"));
  EXPECT_TRUE(Has(source, "mma.sync"));
}

// Checks the order of the fence, the barrier and wgmma: wgmma sees a thread's writes only after a fence of that thread
// and a barrier.
TEST(Wgmma, FencesOperandsBeforeTheBarrier) {
  for (const char* stages : {"1", "3"}) {
    const std::string source =
        SourceFor(90, "Config(block_sizes=[64, 64, 32], num_stages=" + std::string(stages) + ")");
    const size_t fence = source.rfind("share_with_wgmma();");
    ASSERT_NE(fence, std::string::npos) << source;
    const size_t barrier = source.find("BARRIER();", fence);
    const size_t multiplies = source.find("wgmma_f16_64_columns_inside(&", fence);
    EXPECT_LT(barrier, multiplies) << source;
    EXPECT_NE(multiplies, std::string::npos) << source;
  }
}

TEST(Wgmma, TakesSumsOfAnEarlierDotFromRegisters) {
  const std::string source = CudaSource(DotOfDotCase(DType::kF16), "Config(block_sizes=[64, 32])", {}, 90);
  EXPECT_TRUE(Has(source, "wgmma_f16_32(&")) << source;
  EXPECT_TRUE(Has(source, "wgmma_f16_64_in_registers_columns_inside(&")) << source;
}

size_t Count(const std::string& text, const std::string& piece) {
  size_t count = 0;
  for (size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++count;
  return count;
}

TEST(Wgmma, CopiesOperandsFromOutsideTheLoopOnce) {
  const std::string source =
      CudaSource(AttentionCase(DType::kF16, 2, 128, 128, 64), "Config(block_sizes=[64, 32], num_stages=2)", {}, 90);
  EXPECT_TRUE(Has(source, "wgmma_f16_32(&")) << source;
  EXPECT_TRUE(Has(source, "wgmma_f16_64_in_registers_columns_inside(&")) << source;
  EXPECT_FALSE(Has(source, "mma.sync")) << source;
  EXPECT_FALSE(Has(source, "load_f16")) << source;
  const std::string before = source.substr(0, source.find("float v"));
  EXPECT_EQ(Count(before, "copy_async_16(held"), 1) << source;
  EXPECT_EQ(Count(source, "copy_async_16(held"), 1) << source;
}

// Checks that the copies of a thread differ only by constants.
TEST(Wgmma, CopiesToOneAddressWithOffsetsInLoopsWithHeldOperands) {
  const std::string source =
      CudaSource(AttentionCase(DType::kF16, 2, 128, 128, 64), "Config(block_sizes=[64, 64], num_stages=2)", {}, 90);
  const size_t loop = source.find("; begin3 += 64)");
  ASSERT_NE(loop, std::string::npos) << source;
  const size_t copy = source.find("copy_async_16(", loop);
  const std::string call = source.substr(copy, source.find(';', copy) - copy);
  EXPECT_TRUE(Has(call, " + (i3 * 16) * 64, from")) << call;
  EXPECT_TRUE(Has(call, "from1 + (i3 * 16) * 64")) << call;
  EXPECT_FALSE(Has(SourceFor(90, "Config(block_sizes=[64, 64, 64], num_stages=2)"), "from1 = "));
}

// Checks that a loop without prefetches waits for the copy, and that a block of a persistent kernel does not overwrite
// operands that other threads still read.
TEST(Wgmma, WaitsForOperandsFromOutsideTheLoop) {
  const std::string source =
      CudaSource(SumOfDotsCase(), "Config(block_sizes=[16, 64], num_stages=1, pid_type='persistent_blocked')", {}, 90);
  const size_t copy = source.find("copy_async_16_of(held");
  ASSERT_NE(copy, std::string::npos) << source;
  const size_t barrier = source.rfind("BARRIER();", copy);
  const size_t outer_loop = source.rfind("for (int begin", copy);
  EXPECT_LT(outer_loop, barrier) << source;
  const size_t wait = source.find("wait_for_copies_but_0();", copy);
  const size_t shares = source.find("BARRIER();", wait);
  EXPECT_LT(shares, source.find("for (int begin", copy)) << source;
}

// Traces a * b with the rows loaded outside the loop, after a store to another tensor, which may be the same memory.
void StoreBeforeDots(ir::Trace& t) {
  const ir::TensorRef a = t.Tensor("a");
  const ir::TensorRef b = t.Tensor("b");
  const ir::TensorRef out = t.Output("out", {t.SizeOf(a, 0)}, DType::kF32);
  const ir::AxisRef m = t.Tile(t.SizeOf(a, 0));
  const ir::AxisRef d = t.ReductionAxis(t.SizeOf(a, 1));
  const ir::Value rows = t.Load(a, {m, d});
  t.Store(out, {m}, t.Full({m}, 0, DType::kF32));
  const ir::Trace::Carried sums = t.For(t.SizeOf(b, 0), {t.Full({m}, 0, DType::kF32)},
                                        [&](ir::AxisRef n, const ir::Trace::Carried& so_far) -> ir::Trace::Carried {
                                          return {so_far[0] + t.Sum(t.Dot(rows, t.Load(b, {n, d}), d), n)};
                                        });
  t.Store(out, {m}, sums[0]);
}

TEST(Wgmma, LeavesOperandsInRegistersIfAStoreFollowsTheLoad) {
  KernelCase kernel;
  kernel.Input("a", DType::kF16, {128, 64}).Input("b", DType::kF16, {128, 64}).Trace(StoreBeforeDots);
  const std::string source = CudaSource(kernel, "Config(block_sizes=[64, 64])", {}, 90);
  EXPECT_FALSE(Has(source, "copy_async_16(held")) << source;
  EXPECT_TRUE(Has(source, "mma.sync")) << source;
}

}  // namespace
}  // namespace telemetry::worker::codegen
