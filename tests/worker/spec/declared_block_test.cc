#include "worker/spec/declared_block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/record/strings.h"

namespace telemetry::worker::spec {
namespace {

using device::Dialect;
using record::Cat;
using testing::HasSubstr;

const std::vector<std::string> kVariables = {"block_size_x", "unroll"};

// Checks a launch of `threads` threads with the parameters block_size_x = 128 and unroll = 4.
absl::Status CheckScale(const std::string& source, int64_t threads, const std::string& kernel = "scale") {
  const DeclaredBlock block = DeclaredBlock::Find(source, kernel, Dialect::kCuda, kVariables);
  return block.Check({.threads = {threads, 1, 1}}, {Value::Integer(128), Value::Integer(4)});
}

std::string ScaleKernel(const std::string& bounds) {
  return Cat("extern \"C\" __global__ void ", bounds, " scale(float* x) { x[0] = 0; }\n");
}

TEST(DeclaredBlockTest, LaunchBoundsLimitTheThreads) {
  EXPECT_EQ(CheckScale(ScaleKernel("__launch_bounds__(256)"), 256), absl::OkStatus());
  const absl::Status status = CheckScale(ScaleKernel("__launch_bounds__(256)"), 257);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "257 threads per block; the kernel's __launch_bounds__ allows 256");
}

TEST(DeclaredBlockTest, LaunchBoundsMayUseParametersAndMacros) {
  EXPECT_FALSE(CheckScale(ScaleKernel("__launch_bounds__(block_size_x, 2)"), 129).ok());
  EXPECT_TRUE(CheckScale(ScaleKernel("__launch_bounds__(block_size_x, 2)"), 128).ok());
  const std::string macros = "#define THREADS (block_size_x * ROWS)\n#define ROWS unroll / 3\n";
  EXPECT_FALSE(CheckScale(macros + ScaleKernel("__launch_bounds__(THREADS)"), 171).ok());
  EXPECT_TRUE(CheckScale(macros + ScaleKernel("__launch_bounds__(THREADS)"), 128).ok());
}

TEST(DeclaredBlockTest, TheBoundsOfTheKernelCountAndNotThoseOfOthers) {
  const std::string others =
      "__global__ void __launch_bounds__(32) other(int* x) { scale_all(x); }\n"
      "__device__ void use() { }\n";
  EXPECT_TRUE(CheckScale(others + ScaleKernel(""), 1024).ok());
  EXPECT_FALSE(CheckScale(others + ScaleKernel("__launch_bounds__(64)"), 128).ok());
  const std::string in_namespace =
      "namespace ns { template <typename T> __global__ void __launch_bounds__(64) scale(T* x) { } }\n";
  EXPECT_FALSE(CheckScale(in_namespace, 65, "ns::scale<float>").ok());
}

TEST(DeclaredBlockTest, AnUncertainDeclarationDoesNotCount) {
  const std::string bounded = ScaleKernel("__launch_bounds__(THREADS)");
  EXPECT_FALSE(CheckScale("#define THREADS 32\n" + bounded, 1024).ok());
  EXPECT_TRUE(
      CheckScale("#if unroll > 1\n#define THREADS 32\n#else\n#define THREADS 2048\n#endif\n" + bounded, 1024).ok());
  EXPECT_TRUE(CheckScale("#define THREADS 32\n#undef THREADS\n#define THREADS 2048\n" + bounded, 1024).ok());
  EXPECT_TRUE(CheckScale("#define THREADS(x) 32\n" + bounded, 1024).ok());
  EXPECT_TRUE(CheckScale("#define THREADS 32 + \\\n2000\n" + bounded, 1024).ok());
  EXPECT_TRUE(CheckScale("#define THREADS THREADS\n" + bounded, 1024).ok());
  EXPECT_TRUE(CheckScale(bounded, 1024).ok());
  EXPECT_TRUE(CheckScale("#define block_size_x 4096\n" + ScaleKernel("__launch_bounds__(block_size_x)"), 1024).ok());
  EXPECT_TRUE(
      CheckScale(Cat("#if unroll > 1\n", ScaleKernel("__launch_bounds__(32)"), "#else\n", ScaleKernel(""), "#endif\n"),
                 64)
          .ok());
  EXPECT_TRUE(CheckScale(ScaleKernel("__launch_bounds__(sizeof(float) * 8)"), 1024).ok());
  EXPECT_TRUE(CheckScale(ScaleKernel("__launch_bounds__(32"), 1024).ok());
  EXPECT_TRUE(CheckScale(Cat(ScaleKernel("__launch_bounds__(32)"), ScaleKernel("")), 1024).ok());
}

TEST(DeclaredBlockTest, ARequiredBlockMustBeEqual) {
  const std::string source =
      "__kernel __attribute__((reqd_work_group_size(block_size_x, unroll / 2, 1))) void scale(__global int* x) { }\n";
  const DeclaredBlock block = DeclaredBlock::Find(source, "scale", Dialect::kOpenCl, kVariables);
  const std::vector<Value> values = {Value::Integer(16), Value::Integer(4)};
  EXPECT_EQ(block.Check({.threads = {16, 2, 1}}, values), absl::OkStatus());
  const absl::Status status = block.Check({.threads = {8, 2, 1}}, values);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("blocks of (8, 2, 1); the kernel's reqd_work_group_size is (16, 2, 1)"));
}

}  // namespace
}  // namespace telemetry::worker::spec
