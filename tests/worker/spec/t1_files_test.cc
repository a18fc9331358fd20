#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/paths.h"
#include "tests/worker/compiler.h"
#include "worker/device/compile_cuda.h"
#include "worker/spec/config_source.h"
#include "worker/spec/constrained_space.h"
#include "worker/spec/launch_size.h"
#include "worker/spec/specification.h"

// Reads the T1 files of Kernel Tuner. Its repository has one: test/test_T1_input.json; its examples are Python
// programs. (test/test_cache_file_T1_input.json is a cache file of results.)

namespace telemetry::worker::spec {
namespace {

TEST(T1FilesTest, KernelTunersInputIsAccepted) {
  const absl::StatusOr<Specification> spec = ReadSpecification(TestdataDir() + "/t1/kernel_tuner/test_T1_input.json");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->kernel_name, "convolution_kernel");
  EXPECT_EQ(spec->compiler_options, (std::vector<std::string>{"-std=c++11"}));
  ASSERT_EQ(spec->parameters.size(), 8u);
  ASSERT_EQ(spec->arguments.size(), 3u);
  EXPECT_TRUE(spec->arguments[0].is_written);
  EXPECT_EQ(spec->arguments[1].elements, (4096 + 33 - 1) * (4096 + 33 - 1));
  EXPECT_TRUE(spec->arguments[2].is_symbol_too);
  EXPECT_EQ(spec->arguments[2].elements, 33 * 33);
  const absl::StatusOr<ConstrainedSpace> space = ConstrainedSpace::Create(*spec);
  ASSERT_TRUE(space.ok()) << space.status();
  // 16 * 16 widths and heights, 6 * 8 * 8 * 2 others; without padding 8 block sizes, with padding the 4 odd multiples
  // of 16.
  EXPECT_EQ(space->size(), 16 * 16 * 6 * 8 * 8 * 2 * (8 + 4));
  // The problem size and its divisors count, not GlobalSize, which Kernel Tuner does not read.
  const absl::StatusOr<LaunchSize> launch = LaunchSizeOf(spec->launch, spec->ValuesAt(spec->DefaultConfig()));
  ASSERT_TRUE(launch.ok()) << launch.status();
  EXPECT_EQ(launch->grid, (std::array<int64_t, 3>{256, 256, 1}));
  EXPECT_EQ(launch->threads, (std::array<int64_t, 3>{16, 16, 1}));
}

constexpr const char* kKernels[] = {"convolution", "dedispersion", "expdist", "expdist_total",
                                    "gemm",        "hotspot",      "nbody",   "pnpoly"};

absl::StatusOr<Specification> ReadKernel(const std::string& kernel, const std::string& language) {
  return ReadSpecification(TestdataDir() + "/../worker/spec/kernels/" + kernel + "." + language + ".json");
}

TEST(T1FilesTest, TheKernelsHaveTheSameParametersAndArgumentsInBothLanguages) {
  for (const char* kernel : kKernels) {
    const absl::StatusOr<Specification> cuda = ReadKernel(kernel, "cuda");
    const absl::StatusOr<Specification> opencl = ReadKernel(kernel, "opencl");
    ASSERT_TRUE(cuda.ok()) << cuda.status();
    ASSERT_TRUE(opencl.ok()) << opencl.status();
    EXPECT_EQ(cuda->names(), opencl->names()) << kernel;
    ASSERT_EQ(cuda->arguments.size(), opencl->arguments.size()) << kernel;
    for (size_t i = 0; i < cuda->arguments.size(); ++i) {
      EXPECT_EQ(cuda->arguments[i].name, opencl->arguments[i].name);
      EXPECT_EQ(cuda->arguments[i].type.element, opencl->arguments[i].type.element);
      EXPECT_EQ(cuda->arguments[i].is_written, opencl->arguments[i].is_written);
    }
  }
}

TEST(T1FilesTest, TheCudaKernelsCompile) {
  if (!HasNvrtc()) GTEST_SKIP() << "no NVRTC";
  for (const char* kernel : kKernels) {
    const absl::StatusOr<Specification> spec = ReadKernel(kernel, "cuda");
    ASSERT_TRUE(spec.ok()) << spec.status();
    const absl::StatusOr<ConfigSource> source = ConfigSource::Create(*spec, spec->kernel_file, spec->kernel_name);
    ASSERT_TRUE(source.ok()) << source.status();
    const absl::StatusOr<ConstrainedSpace> space = ConstrainedSpace::Create(*spec);
    ASSERT_TRUE(space.ok()) << space.status();
    for (const std::vector<size_t>& config : {spec->DefaultConfig(), spec->verification.config,
                                              space->ConfigAt(space->size() / 2), space->ConfigAt(space->size() - 1)}) {
      EXPECT_TRUE(LaunchSizeOf(spec->launch, spec->ValuesAt(config)).ok());
      const absl::Status compiled = device::CompileCuda(source->For(*spec, config).value(), "sm_90").status();
      EXPECT_TRUE(compiled.ok()) << kernel << ": " << compiled;
    }
  }
}

}  // namespace
}  // namespace telemetry::worker::spec
