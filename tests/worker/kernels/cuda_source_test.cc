// Compiles the generated CUDA source of every kernel for each architecture. Needs NVRTC but no GPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "tests/worker/compiler.h"
#include "tests/worker/kernels/config_variants.h"
#include "tests/worker/kernels/kernel_runner.h"
#include "tests/worker/kernels/test_problems.h"
#include "worker/codegen/emit/generate.h"
#include "worker/device/compile_cuda.h"
#include "worker/kernels/trace_problem.h"

namespace telemetry::worker::kernels {
namespace {

using device::DType;

struct Parameter {
  const LibraryKernel* kernel;
  int sm;
  size_t shared_bytes;
};

class CudaSourceTest : public testing::TestWithParam<Parameter> {
 protected:
  void SetUp() override {
    if (!HasNvrtc()) GTEST_SKIP() << "no NVRTC";
  }

  const LibraryKernel& kernel() const { return *GetParam().kernel; }
  codegen::Target TestTarget() const {
    return {.dialect = device::Dialect::kCuda, .sm = GetParam().sm, .shared_bytes_per_block = GetParam().shared_bytes};
  }
  std::string Architecture() const { return "sm_" + std::to_string(GetParam().sm); }

  // Compiles the source for a config, unless another config gave the same source.
  void Compile(const ir::DeviceIr& device_ir, const codegen::Config& config,
               const codegen::GenerateOptions& options = {}) {
    const absl::StatusOr<codegen::GeneratedKernel> generated =
        codegen::emit::Generate(device_ir, config, TestTarget(), options);
    if (absl::IsResourceExhausted(generated.status())) return;
    ASSERT_TRUE(generated.ok()) << config.ToString() << ": " << generated.status();
    if (!compiled_.insert(generated->source).second) return;
    const absl::StatusOr<device::CompiledCode> code = device::CompileCuda(generated->source, Architecture());
    EXPECT_TRUE(code.ok()) << config.ToString() << ": " << code.status() << "\n" << generated->source;
  }

  std::set<std::string> compiled_;
};

TEST_P(CudaSourceTest, Compiles) {
  for (const Numbers& flags : FlagCombinations(kernel())) {
    for (const DType dtype : kernel().dtypes) {
      const absl::StatusOr<ir::DeviceIr> traced = TraceProblem(kernel(), RaggedProblem(kernel(), dtype, flags));
      ASSERT_TRUE(traced.ok()) << traced.status();
      const codegen::ConfigSpace space = codegen::ConfigSpaceFor(*traced, TestTarget());
      std::vector<codegen::Config> configs = {space.Default()};
      if (AllConfigs()) {
        configs = OneAtATime(space);
      } else if (dtype == kernel().default_dtype) {
        configs = AllAtOnce(space);
      }
      for (const codegen::Config& config : configs) Compile(*traced, config);
    }
  }
  EXPECT_FALSE(compiled_.empty());
  std::cout << compiled_.size() << " sources\n";
}

class CudaDotSourceTest : public CudaSourceTest {
 protected:
  // Returns the number of compiled sources that multiply in tf32.
  int64_t Tf32Sources() const {
    return std::count_if(compiled_.begin(), compiled_.end(),
                         [](const std::string& source) { return source.find("tf32") != std::string::npos; });
  }
};

TEST_P(CudaDotSourceTest, RoundsF32ToTf32OnlyWhereAllowed) {
  const absl::StatusOr<ir::DeviceIr> traced = TraceProblem(kernel(), MakeProblem(kernel(), DType::kF32));
  ASSERT_TRUE(traced.ok()) << traced.status();
  const codegen::ConfigSpace space = codegen::ConfigSpaceFor(*traced, TestTarget());
  Compile(*traced, space.Default());
  ASSERT_EQ(compiled_.size(), 1U);
  EXPECT_EQ(Tf32Sources(), 0);
  Compile(*traced, space.Default(), {.allow_tf32 = true});
  EXPECT_EQ(Tf32Sources(), 1);
  if (!AllConfigs()) return;
  for (const codegen::Config& config : OneAtATime(space)) Compile(*traced, config, {.allow_tf32 = true});
  std::cout << Tf32Sources() << " of " << compiled_.size() << " sources in tf32\n";
}

std::vector<Parameter> ForArchitectures(absl::Span<const LibraryKernel* const> kernels) {
  std::vector<Parameter> all;
  for (const LibraryKernel* kernel : kernels) {
    all.push_back({.kernel = kernel, .sm = 80, .shared_bytes = 163 << 10});
    all.push_back({.kernel = kernel, .sm = 90, .shared_bytes = 227 << 10});
  }
  return all;
}

std::string ParameterName(const testing::TestParamInfo<Parameter>& info) {
  return info.param.kernel->name + "_sm_" + std::to_string(info.param.sm);
}

INSTANTIATE_TEST_SUITE_P(Library, CudaSourceTest, testing::ValuesIn(ForArchitectures(AllKernels())), ParameterName);
INSTANTIATE_TEST_SUITE_P(Library, CudaDotSourceTest, testing::ValuesIn(ForArchitectures(KernelsWithDots())),
                         ParameterName);

}  // namespace
}  // namespace telemetry::worker::kernels
