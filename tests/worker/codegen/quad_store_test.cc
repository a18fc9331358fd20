#include <string>

#include "gtest/gtest.h"
#include "tests/worker/codegen/dot_kernels.h"
#include "tests/worker/codegen/kernel_case.h"

// Tests stores of the sums of dots with 16 bytes at a time.

namespace telemetry::worker::codegen {
namespace {

using device::DType;

constexpr ir::Tolerance kStoreTolerance = {.absolute = 4e-3, .relative = 4e-3};

class QuadStoreTest : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(DTypes, QuadStoreTest, testing::Values(DType::kF16, DType::kBF16),
                         [](const auto& info) { return std::string(ShortName(info.param)); });

// Checks tiles that the ends cut along both axes, with warps along rows, along columns and along both, and with more
// warps than work.
TEST_P(QuadStoreTest, RaggedTiles) {
  const KernelCase kernel = MatmulCase(GetParam(), 37, 72, 24);
  for (const char* config : {"block_sizes=[16, 32, 16], num_warps=1", "block_sizes=[16, 128, 16], num_warps=4",
                             "block_sizes=[32, 64, 16], num_warps=8", "block_sizes=[16, 32, 16], num_warps=8",
                             "block_sizes=[64, 64, 16], num_warps=4, store_eviction_policies=['first']"}) {
    SCOPED_TRACE(config);
    kernel.ExpectReferenceResults("Config(" + std::string(config) + ")", kStoreTolerance);
  }
}

bool Exchanges(const KernelCase& kernel, const std::string& config) {
  return CudaSource(kernel, config).find("exchange_in_quad") != std::string::npos;
}

TEST(QuadStore, IsForWholeAlignedPiecesOf16Bits) {
  const std::string tile = "block_sizes=[32, 64, 16]";
  EXPECT_TRUE(Exchanges(MatmulCase(DType::kF16, 64, 72, 64), "Config(" + tile + ")"));
  EXPECT_FALSE(Exchanges(MatmulCase(DType::kF16, 64, 72, 64), "Config(" + tile + ", vector_widths=[8, 8, 4])"));
  EXPECT_FALSE(Exchanges(MatmulCase(DType::kF16, 64, 68, 64), "Config(" + tile + ")"));
  EXPECT_FALSE(Exchanges(MatmulCase(DType::kF32, 64, 72, 64), "Config(" + tile + ")"));
  // Each thread has only two columns of each of two column tiles.
  EXPECT_FALSE(Exchanges(MatmulCase(DType::kF16, 64, 72, 64), "Config(block_sizes=[32, 16, 16], num_warps=1)"));
}

TEST(QuadStore, SaysThatNobodyWillAskForItSoon) {
  const std::string source = CudaSource(MatmulCase(DType::kF16, 64, 72, 64),
                                        "Config(block_sizes=[32, 64, 16], store_eviction_policies=['first'])");
  EXPECT_NE(source.find("st.global.cs.v4.u32"), std::string::npos) << source;
}

}  // namespace
}  // namespace telemetry::worker::codegen
