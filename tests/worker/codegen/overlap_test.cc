#include <string>

#include "gtest/gtest.h"
#include "tests/worker/codegen/dot_kernels.h"
#include "tests/worker/codegen/kernel_case.h"
#include "tests/worker/codegen/proof_test.h"
#include "worker/codegen/config_space.h"
#include "worker/codegen/promising_configs.h"

// Tests loops in which the second dot runs during the code between the dots of the next iteration (overlap_dots).

namespace telemetry::worker::codegen {
namespace {

using device::DType;

class OverlapCode : public ProofTest {
 protected:
  bool HasInstructions(const Target& target) const override { return target.sm == 90; }
  void ExpectOverlapRight(const KernelCase& kernel, const std::string& config) const {
    SCOPED_TRACE(config);
    ExpectRight(kernel, "Config(" + config + ", overlap_dots=True)", {.absolute = 2e-2, .relative = 1e-2});
  }
};
INSTANTIATE_TEST_SUITE_P(Proofs, OverlapCode,
                         testing::Values(Proof::kCompiles, Proof::kRunsOnGpu, Proof::kRunsInOpenCl), ProofName);

// Checks loops with one iteration, two, as many as stages, and more.
TEST_P(OverlapCode, AnyNumberOfTilesAndStages) {
  for (const int64_t keys : {32, 64, 100, 200}) {
    SCOPED_TRACE(keys);
    const KernelCase kernel = AttentionCase(DType::kF16, 2, 72, keys, 64);
    for (const char* stages : {"2", "3", "4"}) {
      ExpectOverlapRight(kernel, "block_sizes=[64, 32], num_stages=" + std::string(stages));
    }
  }
}

TEST_P(OverlapCode, SeveralWarpgroupsAndTilesOfABlock) {
  const KernelCase kernel = AttentionCase(DType::kBF16, 2, 200, 150, 64);
  ExpectOverlapRight(kernel, "block_sizes=[128, 64], num_warps=8, num_stages=2");
  ExpectOverlapRight(kernel, "block_sizes=[128, 32], num_warps=4, num_stages=2");
  ExpectOverlapRight(kernel, "block_sizes=[64, 32], num_stages=3, pid_type='persistent_blocked'");
}

TEST_P(OverlapCode, DotsWithoutCodeBetweenThem) {
  ExpectOverlapRight(DotOfDotCase(DType::kF16), "block_sizes=[64, 64], num_stages=2");
  ExpectOverlapRight(DotOfDotCase(DType::kF16), "block_sizes=[128, 32], num_warps=8, num_stages=3");
}

constexpr char kConfig[] = "Config(block_sizes=[64, 32], num_stages=2, overlap_dots=True)";
constexpr char kConfigWithout[] = "Config(block_sizes=[64, 32], num_stages=2)";

size_t Follow(const std::string& text, size_t from, const std::string& piece) {
  const size_t at = text.find(piece, from);
  EXPECT_NE(at, std::string::npos) << piece << " is missing after offset " << from << " of\n" << text;
  return at == std::string::npos ? from : at;
}

TEST(Overlap, WaitsForTheSecondDotAfterTheCodeBetweenThem) {
  const std::string source = CudaSource(AttentionCase(DType::kF16, 2, 128, 128, 64), kConfig, {}, 90);
  size_t at = Follow(source, 0, "; begin3 += 32)");
  for (const char* step :
       {"BARRIER();", "wgmma_f16_32_first(&", "send_wgmma();", "wgmma_f16_64_in_registers", "send_wgmma();",
        "copy_async_16(", "close_copies();", "finish_wgmma_but_1();", "exp_f(", "hold_wait(", "finish_wgmma();",
        "pack_f16(", "BARRIER();", "wgmma_f16_64_in_registers", "finish_wgmma();"}) {
    at = Follow(source, at + 1, step);
  }
}

TEST(Overlap, ASearchOfAttentionBeginsWithConfigsThatHaveIt) {
  const KernelCase kernel = AttentionCase(DType::kF16, 2, 1024, 1024, 64);
  const Target target = {.dialect = device::Dialect::kCuda, .sm = 90, .shared_bytes_per_block = 227 << 10};
  const std::vector<Config> configs = PromisingConfigs(ConfigSpaceFor(kernel.ir(), target));
  ASSERT_EQ(configs.size(), 3u);
  for (const Config& config : configs) {
    const std::string source = CudaSource(kernel, config.ToString(), {}, 90);
    EXPECT_NE(source.find("finish_wgmma_but_1();"), std::string::npos) << config.ToString();
  }
}

TEST(Overlap, IsOffByDefault) {
  const KernelCase kernel = AttentionCase(DType::kF16, 2, 128, 128, 64);
  const std::string source = CudaSource(kernel, kConfigWithout, {}, 90);
  EXPECT_EQ(source.find("finish_wgmma_but_1"), std::string::npos) << source;
  EXPECT_EQ(source, CudaSource(kernel, "Config(block_sizes=[64, 32], num_stages=2, overlap_dots=False)", {}, 90));
}

// Expects that the key has no effect on the code of the kernel for this target.
void ExpectNoOverlap(const KernelCase& kernel, const std::string& blocks, int sm) {
  const std::string source = CudaSource(kernel, "Config(" + blocks + ", overlap_dots=True)", {}, sm);
  EXPECT_EQ(source, CudaSource(kernel, "Config(" + blocks + ")", {}, sm));
}

TEST(Overlap, NeedsWgmmaAndPrefetches) {
  const KernelCase kernel = AttentionCase(DType::kF16, 2, 128, 128, 64);
  ExpectNoOverlap(kernel, "block_sizes=[64, 32], num_stages=2", 80);
  ExpectNoOverlap(kernel, "block_sizes=[64, 32], num_stages=1", 90);
  ExpectNoOverlap(kernel, "block_sizes=[32, 32], num_stages=2", 90);
  // Eight warps share 64 rows, so that no warp has all columns of its rows in registers.
  ExpectNoOverlap(kernel, "block_sizes=[64, 32], num_warps=8, num_stages=2", 90);
}

TEST(Overlap, NeedsASecondDotWhoseResultIsOnlyCarried) {
  KernelCase kernel;
  kernel.Input("a", DType::kF16, {64, 64}).Input("b", DType::kF16, {64, 64}).Input("c", DType::kF16, {64, 64});
  // The loop also carries the largest of the sums so far, which depends on the second dot.
  kernel.Trace([](ir::Trace& t) {
    const ir::TensorRef a = t.Tensor("a");
    const ir::TensorRef b = t.Tensor("b");
    const ir::TensorRef c = t.Tensor("c");
    const ir::AxisRef m = t.Tile(t.SizeOf(a, 0));
    const ir::AxisRef d = t.ReductionAxis(t.SizeOf(a, 1));
    const ir::AxisRef e = t.ReductionAxis(t.SizeOf(c, 1));
    const ir::Value rows = t.Load(a, {m, d});
    const ir::Trace::Carried none = {t.Full({m, e}, 0, DType::kF32), t.Full({m, e}, 0, DType::kF32)};
    const ir::Trace::Carried sums =
        t.For(t.SizeOf(b, 0), none, [&](ir::AxisRef n, const ir::Trace::Carried& carried) -> ir::Trace::Carried {
          const ir::Value inner = t.Dot(rows, t.Load(b, {n, d}), d);
          const ir::Value sum = t.Dot(inner.To(DType::kF16), t.Load(c, {n, e}), n, carried[0]);
          return {sum, maximum(carried[1], sum)};
        });
    t.Store(t.Output("out", {t.SizeOf(a, 0), t.SizeOf(c, 1)}, DType::kF32), {m, e}, sums[1]);
  });
  ExpectNoOverlap(kernel, "block_sizes=[64, 32], num_stages=2", 90);
}

const ConfigParameter* FindOverlap(const ConfigSpace& space) {
  for (const ConfigParameter& parameter : space.parameters()) {
    if (parameter.key == "overlap_dots") return &parameter;
  }
  return nullptr;
}

TEST(Overlap, IsAChoiceOnlyForDotsOfDotsAndWgmma) {
  const KernelCase attention = AttentionCase(DType::kF16, 2, 128, 128, 64);
  EXPECT_EQ(FindOverlap(ConfigSpaceFor(attention.ir()))->choices.size(), 2);
  const auto choices = [&attention](const Target& target) {
    return FindOverlap(ConfigSpaceFor(attention.ir(), target))->choices.size();
  };
  EXPECT_EQ(choices({.dialect = device::Dialect::kCuda, .sm = 90}), 2);
  EXPECT_EQ(choices({.dialect = device::Dialect::kCuda, .sm = 100}), 1);
  EXPECT_EQ(choices({.dialect = device::Dialect::kOpenCl, .sm = 90}), 1);
  EXPECT_EQ(FindOverlap(ConfigSpaceFor(MatmulCase(DType::kF16, 64, 64, 64).ir())), nullptr);
}

}  // namespace
}  // namespace telemetry::worker::codegen
