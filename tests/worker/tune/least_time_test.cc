#include "worker/tune/least_time.h"

#include "gtest/gtest.h"

namespace telemetry::worker::tune {
namespace {

constexpr int64_t kBytesOfMatrix = int64_t{4096} * 4096 * 2;

device::DeviceProperties Gpu() {
  return {.dialect = device::Dialect::kCuda, .name = "NVIDIA H200", .compute_units = 132, .clock_khz = 1'980'000};
}

// A product of two matrices with tiles of 64 x 32 loads one matrix 4096 / 32 times and the other one 4096 / 64 times.
TEST(LeastTimeTest, FollowsFromTheBytesAndTheDevice) {
  EXPECT_NEAR(LeastMs(kBytesOfMatrix * (4096 / 32 + 4096 / 64), Gpu()), 0.1926, 1e-4);
  EXPECT_NEAR(LeastMs(kBytesOfMatrix * (4096 / 256 + 4096 / 128), Gpu()), 0.0481, 1e-4);
  device::DeviceProperties half = Gpu();
  half.compute_units /= 2;
  EXPECT_DOUBLE_EQ(LeastMs(1 << 20, half), 2 * LeastMs(1 << 20, Gpu()));
}

TEST(LeastTimeTest, IsZeroIfItIsNotKnown) {
  EXPECT_EQ(LeastMs(0, Gpu()), 0);
  device::DeviceProperties without_clock = Gpu();
  without_clock.clock_khz = 0;
  EXPECT_EQ(LeastMs(kBytesOfMatrix, without_clock), 0);
  device::DeviceProperties cpu = Gpu();
  cpu.dialect = device::Dialect::kOpenCl;
  EXPECT_EQ(LeastMs(kBytesOfMatrix, cpu), 0);
}

}  // namespace
}  // namespace telemetry::worker::tune
