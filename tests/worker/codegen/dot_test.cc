#include <string>

#include "gtest/gtest.h"
#include "tests/worker/codegen/dot_kernels.h"
#include "tests/worker/codegen/kernel_case.h"

// Tests dots with float32 multiply-adds and, on devices that have them, on tensor cores (TELEMETRY_TEST_DEVICE=cuda:0).

namespace telemetry::worker::codegen {
namespace {

using device::DType;

constexpr ir::Tolerance kDotTolerance = {.absolute = 4e-3, .relative = 4e-3};

class DotTest : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(DTypes, DotTest, testing::Values(DType::kF32, DType::kF16, DType::kBF16),
                         [](const auto& info) { return std::string(ShortName(info.param)); });

TEST_P(DotTest, ShapesThatBlocksDivide) {
  MatmulCase(GetParam(), 64, 128, 64).ExpectReferenceResults("Config()", kDotTolerance);
}

TEST_P(DotTest, RaggedShapes) {
  const KernelCase kernel = MatmulCase(GetParam(), 37, 71, 53);
  kernel.ExpectReferenceResults("Config(block_sizes=[32, 32, 16])", kDotTolerance);
  kernel.ExpectReferenceResults("Config(block_sizes=[64, 16, 32], num_warps=2)", kDotTolerance);
  kernel.ExpectReferenceResults("Config(block_sizes=[16, 64, 64], num_warps=8)", kDotTolerance);
}

TEST_P(DotTest, BlocksTooSmallForTensorCores) {
  MatmulCase(GetParam(), 9, 10, 11).ExpectReferenceResults("Config(block_sizes=[4, 4, 4], num_warps=1)", kDotTolerance);
}

TEST_P(DotTest, TransposedOperands) {
  KernelCase kernel;
  kernel.Input("a", GetParam(), {48, 40}, {1, 48}).Input("b", GetParam(), {40, 56}, {1, 40}).Trace(Matmul);
  kernel.ExpectReferenceResults("Config(block_sizes=[32, 32, 16])", kDotTolerance);
}

TEST_P(DotTest, ConfigKeys) {
  const KernelCase kernel = MatmulCase(GetParam(), 70, 90, 50);
  for (const char* key :
       {"l2_groupings=[2]", "loop_orders=[[1, 0]]", "pid_type='persistent_blocked'",
        "pid_type='persistent_interleaved'", "range_unroll_factors=[2]", "load_eviction_policies=['first', 'last']",
        "vector_widths=[1, 2, 1]", "num_stages=1", "num_stages=4"}) {
    SCOPED_TRACE(key);
    kernel.ExpectReferenceResults("Config(block_sizes=[16, 32, 16], " + std::string(key) + ")", kDotTolerance);
  }
}

TEST(Dot, OfTf32WhereAllowed) {
  MatmulCase(DType::kF32, 64, 48, 40)
      .ExpectReferenceResults("Config(block_sizes=[32, 32, 16])", {3e-2, 1e-2}, {.allow_tf32 = true});
}

TEST_P(DotTest, OnlineSoftmaxAttention) {
  const ir::Tolerance tolerance = {.absolute = 1e-2, .relative = 1e-2};
  AttentionCase(GetParam(), 2, 64, 64, 32)
      .ExpectReferenceResults("Config(block_sizes=[32, 32], num_warps=2)", tolerance);
  AttentionCase(GetParam(), 2, 45, 51, 20)
      .ExpectReferenceResults("Config(block_sizes=[16, 16], num_warps=2)", tolerance);
}

TEST(Dot, UsesTheInstructionOfItsDType) {
  const std::string config = "Config(block_sizes=[32, 32, 16])";
  EXPECT_NE(CudaSource(MatmulCase(DType::kF16, 64, 64, 64), config).find("m16n8k16.row.col.f32.f16"),
            std::string::npos);
  EXPECT_NE(CudaSource(MatmulCase(DType::kBF16, 64, 64, 64), config).find("m16n8k16.row.col.f32.bf16"),
            std::string::npos);
  const KernelCase f32 = MatmulCase(DType::kF32, 64, 64, 64);
  EXPECT_EQ(CudaSource(f32, config).find("mma.sync"), std::string::npos);
  EXPECT_NE(CudaSource(f32, config, {.allow_tf32 = true}).find("m16n8k8.row.col.f32.tf32"), std::string::npos);
}

TEST(Dot, TakesSumsOfAnEarlierDotFromRegisters) {
  const std::string source =
      CudaSource(AttentionCase(DType::kF16, 2, 64, 64, 64), "Config(block_sizes=[64, 32], num_warps=4)");
  EXPECT_EQ(source.find("rows_shared"), std::string::npos) << source;
}

}  // namespace
}  // namespace telemetry::worker::codegen
