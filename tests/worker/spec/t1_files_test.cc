#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/paths.h"
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

}  // namespace
}  // namespace telemetry::worker::spec
