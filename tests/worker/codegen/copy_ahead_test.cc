#include <string>

#include "gtest/gtest.h"
#include "tests/worker/codegen/dot_kernels.h"
#include "tests/worker/codegen/kernel_case.h"
#include "tests/worker/codegen/proof_test.h"
#include "worker/codegen/emit/generate.h"

// Tests copies of dot operands to shared memory, and their prefetches in loops.

namespace telemetry::worker::codegen {
namespace {

using device::Dialect;
using device::DType;

constexpr ir::Tolerance kCopyTolerance = {.absolute = 1e-2, .relative = 1e-2};

class CopyAheadCode : public ProofTest {
 protected:
  bool HasInstructions(const Target& target) const override { return target.sm >= 80; }
  // Checks the kernel for f16 and for bf16.
  template <typename MakeCase>
  void ExpectBothRight(MakeCase make_case, const std::string& config) const {
    for (const DType dtype : {DType::kF16, DType::kBF16}) {
      SCOPED_TRACE(ShortName(dtype));
      ExpectRight(make_case(dtype), config, kCopyTolerance);
    }
  }
  void ExpectProductsRight(int64_t m, int64_t n, int64_t k, const std::string& config) const {
    ExpectBothRight([=](DType dtype) { return MatmulCase(dtype, m, n, k); }, config);
  }
};
INSTANTIATE_TEST_SUITE_P(Proofs, CopyAheadCode,
                         testing::Values(Proof::kCompiles, Proof::kRunsOnGpu, Proof::kRunsInOpenCl), ProofName);

// Checks loops with fewer tiles than stages, as many, and more.
TEST_P(CopyAheadCode, AnyNumberOfTilesAndStages) {
  for (const int64_t depth : {16, 48, 144}) {
    for (const char* stages : {"2", "3", "5"}) {
      SCOPED_TRACE(testing::Message() << depth << " deep, " << stages << " stages");
      ExpectProductsRight(64, 64, depth,
                          "Config(block_sizes=[32, 64, 16], num_warps=2, num_stages=" + std::string(stages) + ")");
    }
  }
}

// Checks tensors whose rows begin at multiples of 16, 8, 4 and 2 bytes. No size is a multiple of a block.
TEST_P(CopyAheadCode, AnyAlignment) {
  for (const int64_t size : {72, 68, 66, 67}) {
    SCOPED_TRACE(size);
    ExpectProductsRight(size, size, size, "Config(block_sizes=[32, 32, 32], num_stages=3)");
  }
}

TEST_P(CopyAheadCode, TilesOfAPersistentBlock) {
  ExpectProductsRight(200, 100, 40, "Config(block_sizes=[16, 16, 16], num_stages=3, pid_type='persistent_blocked')");
}

TEST_P(CopyAheadCode, KeysAndValuesOfAttention) {
  ExpectBothRight([](DType dtype) { return AttentionCase(dtype, 2, 45, 70, 24); },
                  "Config(block_sizes=[32, 16], num_warps=2, num_stages=3)");
}

size_t MultiplyCounts(const std::string& text, const std::string& piece) {
  size_t count = 0;
  for (size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++count;
  return count;
}

// Returns the source from the head of the loop along `axis` to the end of the kernel.
std::string LoopSource(const std::string& source, int axis) {
  const std::string begin = "begin" + std::to_string(axis);
  return source.substr(source.find("; " + begin + " += "));
}

TEST(CopyAhead, PassesRegistersByAndOneBarrierAnIteration) {
  const std::string source =
      CudaSource(MatmulCase(DType::kF16, 256, 256, 256), "Config(block_sizes=[64, 64, 32], num_warps=4, num_stages=3)");
  const std::string loop = LoopSource(source, 2);
  EXPECT_EQ(MultiplyCounts(loop, "BARRIER();"), 1) << source;
  EXPECT_EQ(MultiplyCounts(loop, "copy_async_16("), 2) << source;
  EXPECT_EQ(MultiplyCounts(source, "load_f16"), 0) << source;
  EXPECT_NE(loop.find("wait_for_copies_but_1();"), std::string::npos) << source;
}

TEST(CopyAhead, CopiesInTheIterationItselfWithOneStage) {
  const std::string source =
      CudaSource(MatmulCase(DType::kF16, 256, 256, 256), "Config(block_sizes=[64, 64, 32], num_warps=4, num_stages=1)");
  const std::string loop = LoopSource(source, 2);
  EXPECT_EQ(MultiplyCounts(loop, "BARRIER();"), 2) << source;
  EXPECT_NE(loop.find("wait_for_copies_but_0();"), std::string::npos) << source;
  EXPECT_EQ(source.find("slot"), std::string::npos) << source;
}

TEST(CopyAhead, TakesPiecesAsWideAsTheConfigAndMemoryAllow) {
  const std::string config = "Config(block_sizes=[64, 64, 32], vector_widths=[4, 8, 8])";
  const std::string aligned = CudaSource(MatmulCase(DType::kF16, 256, 256, 256), config);
  EXPECT_NE(aligned.find("copy_async_8("), std::string::npos) << aligned;
  EXPECT_NE(aligned.find("copy_async_16("), std::string::npos) << aligned;
  const std::string odd = CudaSource(MatmulCase(DType::kF16, 255, 255, 255), config);
  EXPECT_EQ(odd.find("copy_async"), std::string::npos) << odd;
}

// Checks that copies have no cache hint, because ptxas generates illegal instructions for such copies.
TEST(CopyAhead, DoesNotSayHowLongLinesAreWorthKeeping) {
  const KernelCase kernel = MatmulCase(DType::kF16, 256, 256, 256);
  const std::string source =
      CudaSource(kernel, "Config(block_sizes=[64, 64, 32], load_eviction_policies=['last', ''])");
  EXPECT_NE(source.find("copy_async_16("), std::string::npos) << source;
  EXPECT_EQ(source, CudaSource(kernel, "Config(block_sizes=[64, 64, 32])"));
}

TEST(CopyAhead, RefusesMoreStagesThanSharedMemoryHolds) {
  const KernelCase kernel = MatmulCase(DType::kF16, 256, 256, 256);
  const absl::Status status = emit::Generate(kernel.ir(), kernel.With("Config(block_sizes=[64, 64, 64], num_stages=6)"),
                                             {.dialect = Dialect::kCuda, .shared_bytes_per_block = 48 << 10})
                                  .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  // Two operands of 64 rows with 64 elements of 2 bytes and 16 bytes of padding, in six stages.
  EXPECT_NE(std::string(status.message()).find(std::to_string(144 * 64 * 2 * 6)), std::string::npos) << status;
}

TEST(CopyAhead, DoesNothingInOpenCl) {
  const KernelCase kernel = MatmulCase(DType::kF16, 64, 64, 64);
  const auto source = [&kernel](const std::string& config) {
    return emit::Generate(kernel.ir(), kernel.With(config), {.dialect = Dialect::kOpenCl})->source;
  };
  EXPECT_EQ(source("Config(num_stages=1)"), source("Config(num_stages=4)"));
}

// Traces out = a * b in a loop that stores the sums in every iteration. Loads of later iterations must not run before
// the stores.
void StoringLoop(ir::Trace& t) {
  const ir::TensorRef a = t.Tensor("a");
  const ir::TensorRef b = t.Tensor("b");
  const ir::TensorRef out = t.Output("out", {t.SizeOf(a, 0), t.SizeOf(b, 1)}, t.TensorInfo(a).dtype);
  const ir::AxisRef m = t.Tile(t.SizeOf(a, 0));
  const ir::AxisRef n = t.Tile(t.SizeOf(b, 1));
  t.For(t.SizeOf(a, 1), {t.Full({m, n}, 0, DType::kF32)},
        [&](ir::AxisRef k, const ir::Trace::Carried& carried) -> ir::Trace::Carried {
          const ir::Value sums = t.Dot(t.Load(a, {m, k}), t.Load(b, {k, n}), k, carried[0]);
          t.Store(out, {m, n}, sums);
          return {sums};
        });
}

KernelCase StoringCase() {
  KernelCase kernel;
  kernel.Input("a", DType::kF16, {64, 64}).Input("b", DType::kF16, {64, 64}).Trace(StoringLoop);
  return kernel;
}

TEST(CopyAhead, StaysInTheIterationOfALoopThatStores) {
  EXPECT_EQ(CudaSource(StoringCase(), "Config(block_sizes=[32, 32, 16], num_stages=3)").find("slot"),
            std::string::npos);
}

TEST_P(CopyAheadCode, ALoopThatStores) {
  ExpectRight(StoringCase(), "Config(block_sizes=[32, 32, 16], num_stages=3)", kCopyTolerance);
}

TEST(Rounding, IsLeftToTheStoreAndTheDot) {
  const std::string source = CudaSource(AttentionCase(DType::kF16, 2, 64, 64, 64), "Config(block_sizes=[64, 32])");
  EXPECT_EQ(source.find("round_f16"), std::string::npos) << source;
}

}  // namespace
}  // namespace telemetry::worker::codegen
