#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/environment.h"
#include "tests/temp_folder.h"
#include "tests/worker/compiler.h"
#include "tests/worker/tune/compile/pool_fixture.h"
#include "worker/device/device.h"
#include "worker/device/open_device.h"

namespace telemetry::worker::tune::compile {
namespace {

using absl::StatusCode;
using device::Dialect;
using device::OpenDevice;
using testing::HasSubstr;
using testing::StartsWith;

std::string CudaSource(int number) {
  return absl::StrCat("extern \"C\" __global__ void kernel(float* out) { out[threadIdx.x] += ", number, ".0f; }");
}

std::string OpenClSource(int number) {
  return absl::StrCat("__kernel void kernel_of_mine(__global float* out) { out[get_local_id(0)] += ", number, ".0f; }");
}

// Instantiates templates until memory runs out.
constexpr char kEndlessSource[] = R"(
template <int depth, unsigned path> struct Tree {
  static const unsigned value = Tree<depth - 1, 2 * path>::value + Tree<depth - 1, 2 * path + 1>::value;
};
template <unsigned path> struct Tree<0, path> { static const unsigned value = path; };
extern "C" __global__ void kernel(unsigned* out) { *out = Tree<28, 1>::value; }
)";

// Ten billion statements of the preprocessor.
constexpr char kExplodingSource[] = R"(
#define TEN(x) x x x x x x x x x x
#define HUNDRED(x) TEN(TEN(x))
#define MANY(x) HUNDRED(HUNDRED(HUNDRED(HUNDRED(HUNDRED(x)))))
__kernel void kernel_of_mine(__global float* out) { MANY(out[get_local_id(0)] += 1;) }
)";

// Tests NVRTC and OpenCL ("opencl:0"). Skips OpenCL if it is not installed, and NVRTC if it is not installed and
// TELEMETRY_NVRTC is not set.
class RealCompilersTest : public PoolTest {
 protected:
  void SubmitCuda(const std::string& source) { Submit({.source = source, .target = "sm_90"}); }
  void SubmitOpenCl(const std::string& source) {
    Submit({.source = source, .dialect = Dialect::kOpenCl, .target = "opencl:0"});
  }

  static bool HasOpenCl() { return OpenDevice("opencl:0").ok(); }
};

TEST_F(RealCompilersTest, CudaCompiles) {
  if (!HasNvrtc()) GTEST_SKIP() << "no NVRTC";
  StartPool({.processes = 1});
  SubmitCuda(CudaSource(1));
  SubmitCuda("extern \"C\" __global__ void kernel(float* out) { *out = unknown; }");
  const std::vector<CompileResult> results = Results();
  EXPECT_THAT(results[0].code.value().binary, StartsWith("\x7f"
                                                         "ELF"));
  EXPECT_GT(results[0].seconds, 0);
  EXPECT_EQ(ResultCode(results[1]), StatusCode::kInvalidArgument);
  EXPECT_THAT(results[1].log(), HasSubstr("identifier \"unknown\" is undefined"));
}

TEST_F(RealCompilersTest, CodeIsKeptForLaterPools) {
  if (!HasNvrtc()) GTEST_SKIP() << "no NVRTC";
  const TempFolder folder;
  const CompilePoolOptions options = {.processes = 1, .code_folder = folder.path()};
  StartPool(options);
  SubmitCuda(CudaSource(1));
  Results();
  EXPECT_EQ(pool_->stats().from_folder, 0);
  StartPool(options);
  SubmitCuda(CudaSource(1));
  SubmitCuda(CudaSource(2));
  const std::vector<CompileResult> results = Results();
  EXPECT_TRUE(results[1].from_folder);
  EXPECT_EQ(results[1].code.value().binary, results[0].code.value().binary);
  EXPECT_EQ(results[1].seconds, results[0].seconds);
  EXPECT_FALSE(results[2].from_folder);
  EXPECT_EQ(pool_->stats().compiled, 2);
  EXPECT_EQ(pool_->stats().from_folder, 1);
  EXPECT_EQ(pool_->stats().busy_seconds, results[2].seconds);
}

TEST_F(RealCompilersTest, KeptCodeNeedsNoProcess) {
  if (!HasNvrtc()) GTEST_SKIP() << "no NVRTC";
  const TempFolder folder;
  StartPool({.processes = 1, .code_folder = folder.path()});
  SubmitCuda(CudaSource(1));
  Results();
  StartPool({.program = {.path = "/no/such/program"}, .processes = 1, .code_folder = folder.path()});
  SubmitCuda(CudaSource(1));
  SubmitCuda(CudaSource(2));
  const std::vector<CompileResult> results = Results();
  EXPECT_TRUE(results[1].code.ok()) << results[1].log();
  EXPECT_FALSE(results[2].code.ok());
}

TEST_F(RealCompilersTest, ASourceThatExceedsNearlyTheSameLimitIsNotCompiledAgain) {
  if (!HasNvrtc()) GTEST_SKIP() << "no NVRTC";
  const TempFolder folder;
  const auto compile = [&](absl::Duration limit) {
    StartPool({.processes = 1, .time_limit = limit, .code_folder = folder.path()});
    SubmitCuda(kEndlessSource);
    return Results().back();
  };
  const CompileResult first = compile(absl::Milliseconds(300));
  EXPECT_EQ(ResultCode(first), StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(first.from_folder);
  const CompileResult again = compile(absl::Milliseconds(400));
  EXPECT_EQ(ResultCode(again), StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(again.from_folder);
  EXPECT_NEAR(again.seconds, 0.3, 1e-6);
  EXPECT_EQ(pool_->stats().timeouts, 1);
  EXPECT_FALSE(compile(absl::Milliseconds(700)).from_folder);
}

// The limit of the first source falls when the times of the others are known.
TEST_F(RealCompilersTest, ASourceIsEndedWhenItsLimitFallsToOneThatItExceeded) {
  if (!HasNvrtc()) GTEST_SKIP() << "no NVRTC";
  const TempFolder folder;
  const auto compile = [&] {
    const size_t index = OneResultEach().size();
    StartPool({.processes = 2, .ends_stragglers = true, .code_folder = folder.path()});
    SubmitCuda(kEndlessSource);
    for (int i = 0; i < 8; ++i) SubmitCuda(CudaSource(i));
    return Results()[index];
  };
  const CompileResult first = compile();
  EXPECT_EQ(ResultCode(first), StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(first.from_folder);
  const CompileResult again = compile();
  EXPECT_EQ(ResultCode(again), StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(again.from_folder);
  EXPECT_LT(again.seconds, 30) << "the limit that it exceeded";
}

TEST_F(RealCompilersTest, TheCodeFolderIsTrimmed) {
  if (!HasNvrtc()) GTEST_SKIP() << "no NVRTC";
  const TempFolder folder;
  StartPool({.processes = 1, .code_folder = folder.path(), .code_folder_bytes = 1});
  for (int i = 0; i < 3; ++i) SubmitCuda(CudaSource(i));
  Results();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(RealCompilersTest, OpenClCompiles) {
  if (!HasOpenCl()) GTEST_SKIP() << "no opencl:0";
  StartPool({.processes = 1});
  SubmitOpenCl(OpenClSource(1));
  SubmitOpenCl("__kernel void kernel_of_mine(__global float* out) { *out = unknown; }");
  Submit({.source = OpenClSource(1), .dialect = Dialect::kOpenCl, .target = "opencl:99"});
  const std::vector<CompileResult> results = Results();
  const auto device = OpenDevice("opencl:0").value();
  const auto module = device->Load(results[0].code.value()).value();
  EXPECT_TRUE(module->GetFunction("kernel_of_mine").ok());
  EXPECT_EQ(ResultCode(results[1]), StatusCode::kInvalidArgument);
  EXPECT_THAT(results[1].log(), HasSubstr("unknown"));
  EXPECT_EQ(ResultCode(results[2]), StatusCode::kNotFound);
}

TEST_F(RealCompilersTest, AThousandJobsOfFewSources) {
  if (!HasNvrtc() || !HasOpenCl()) GTEST_SKIP() << "no NVRTC, or no opencl:0";
  StartPool({.processes = 2});
  for (int i = 0; i < 1000; ++i) {
    if (i % 2 == 0) SubmitCuda(CudaSource(i % 20));
    if (i % 2 == 1) SubmitOpenCl(OpenClSource(i % 20));
  }
  for (const CompileResult& result : Results()) EXPECT_EQ(result.code.status(), absl::OkStatus());
  EXPECT_EQ(pool_->stats().unique_sources, 20);
  EXPECT_EQ(pool_->stats().compiled, 20);
  EXPECT_EQ(pool_->stats().deduplicated, 980);
}

TEST_F(RealCompilersTest, AnEndlessCompilationIsEnded) {
  if (!HasNvrtc()) GTEST_SKIP() << "no NVRTC";
  StartPool({.processes = 1, .time_limit = absl::Seconds(1)});
  SubmitCuda(kEndlessSource);
  EXPECT_EQ(ResultCode(Results()[0]), StatusCode::kDeadlineExceeded);
}

TEST_F(RealCompilersTest, ACompilationThatTakesAllMemoryIsEnded) {
  StartPool({.processes = 1, .time_limit = absl::Minutes(5), .memory_limit_bytes = uint64_t{512} << 20});
  if (HasOpenCl()) SubmitOpenCl(kExplodingSource);
  if (HasOpenCl()) SubmitOpenCl(OpenClSource(1));
  if (HasNvrtc()) SubmitCuda(kEndlessSource);
  if (HasNvrtc()) SubmitCuda(CudaSource(1));
  const std::vector<CompileResult> results = Results();
  for (size_t i = 0; i < results.size(); i += 2) {
    EXPECT_EQ(ResultCode(results[i]), StatusCode::kResourceExhausted);
    EXPECT_THAT(results[i].log(), HasSubstr("used more than 512 MiB of memory and was killed"));
    EXPECT_TRUE(results[i + 1].code.ok()) << results[i + 1].code.status();
  }
}

// For manual runs: TELEMETRY_COMPILE_RATE=200 compiles 200 kernels with one process and with two.
TEST_F(RealCompilersTest, Rate) {
  const auto count = static_cast<int>(NumberFromEnvironment("TELEMETRY_COMPILE_RATE", 0));
  if (count == 0) GTEST_SKIP() << "TELEMETRY_COMPILE_RATE is not set";
  for (int processes : {1, 2, 1, 2}) {
    StartPool({.processes = processes});
    SubmitCuda(CudaSource(-1));
    SubmitCuda(CudaSource(-2));
    pool_->Drain();  // until the processes have started
    const absl::Time begin = absl::Now();
    for (int i = 0; i < count; ++i) SubmitCuda(CudaSource(i));
    pool_->Drain();
    const double seconds = absl::ToDoubleSeconds(absl::Now() - begin);
    std::cout << processes << " processes: " << count / seconds << " compilations a second, "
              << pool_->stats().busy_seconds / count * 1e3 << " ms each\n";
  }
}

}  // namespace
}  // namespace telemetry::worker::tune::compile
