#include "worker/device/compile_cuda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace telemetry::worker::device {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class NvrtcTest : public testing::Test {
 protected:
  // Skips the tests if there is no NVRTC, unless TELEMETRY_NVRTC is set.
  void SetUp() override {
    const absl::Status status = NvrtcVersion().status();
    if (!status.ok() && std::getenv("TELEMETRY_NVRTC") == nullptr) GTEST_SKIP() << status;
    ASSERT_EQ(status, absl::OkStatus());
  }
};

constexpr char kSource[] = R"(
float twice(float x) { return 2 * x; }  // device code without being told
extern "C" __global__ void kernel(float* out) { out[threadIdx.x] = twice(out[threadIdx.x]); }
)";

TEST_F(NvrtcTest, CompilesForEachArchitecture) {
  const CompiledCode ampere = CompileCuda(kSource, "sm_80").value();
  const CompiledCode hopper = CompileCuda(kSource, "sm_90").value();
  EXPECT_THAT(ampere.binary, StartsWith("\x7f"
                                        "ELF"));
  EXPECT_THAT(hopper.binary, StartsWith("\x7f"
                                        "ELF"));
  EXPECT_NE(ampere.binary, hopper.binary);
  EXPECT_THAT(hopper.binary, HasSubstr("kernel"));
}

// Tests instructions such as wgmma, which only sm_90 has, not later architectures.
TEST_F(NvrtcTest, KnowsTheInstructionsOfHopper) {
  const std::string source = "extern \"C\" __global__ void kernel() { asm volatile(\"wgmma.fence.sync.aligned;\"); }\n";
  EXPECT_EQ(CompileCuda(source, "sm_90").status(), absl::OkStatus());
  EXPECT_FALSE(CompileCuda(source, "sm_80").ok());
}

TEST_F(NvrtcTest, ShowsTheLog) {
  const absl::Status status = CompileCuda("__global__ void kernel(float* out) { out[0] = unknown; }", "sm_90").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("identifier \"unknown\" is undefined"));
}

TEST_F(NvrtcTest, KeepsTheRemarksOfASuccess) {
  const CompiledCode code =
      CompileCuda("extern \"C\" __global__ void kernel(float* out) { int unused; out[0] = 1; }", "sm_90").value();
  EXPECT_THAT(code.log, HasSubstr("unused"));
}

TEST_F(NvrtcTest, ASourceMayUseTexturesAndTheRuntime) {
  const std::string source =
      "extern \"C\" __global__ void kernel(cudaTextureObject_t from, float* out) { out[0] = tex1Dfetch<float>(from, "
      "0); }\n"
      "cudaError_t unused() { return cudaSuccess; }\n";
  EXPECT_EQ(CompileCuda(source, "sm_90").status(), absl::OkStatus());
}

// The assembler refuses it after all other work, which is not done twice.
TEST_F(NvrtcTest, TellsThatAKernelNeedsTooMuchSharedMemory) {
  const std::string source = R"(
extern "C" __global__ void kernel(float* out) {
  __shared__ float shared[65536];
  shared[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = shared[threadIdx.x + 1];
}
)";
  const absl::Status status = CompileCuda(source, "sm_90").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("\nptxas"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("too much shared data"));
}

TEST_F(NvrtcTest, RefusesAnArchitectureThatItDoesNotKnow) {
  const absl::Status status = CompileCuda(kSource, "sm_12").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("sm_12"));
}

}  // namespace
}  // namespace telemetry::worker::device
