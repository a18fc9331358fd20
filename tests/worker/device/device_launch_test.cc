#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "tests/worker/device/device_fixture.h"

namespace telemetry::worker::device {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

using DeviceLaunchTest = DeviceTest;

constexpr char kScale[] = R"(
KERNEL scale(GLOBAL float* out, GLOBAL const float* in, int count, float factor) {
  int i = BLOCK * THREADS + THREAD;
  if (i < count) out[i] = in[i] * factor;
})";

TEST_F(DeviceLaunchTest, RunsEveryThreadOfEveryBlock) {
  std::vector<float> values(1000);
  std::iota(values.begin(), values.end(), 0.0f);
  const std::unique_ptr<Buffer> in = MakeBuffer(values);
  const std::unique_ptr<Buffer> out = MakeBuffer(std::vector<float>(1024, -1));
  const std::unique_ptr<Function> scale = Kernel("scale", kScale);
  ASSERT_EQ(scale->Launch({.grid = 16, .threads = 64}, {out.get(), in.get(), int32_t{1000}, 2.0f}), absl::OkStatus());
  const std::vector<float> result = Values(*out);
  for (int i = 0; i < 1024; ++i) ASSERT_EQ(result[i], i < 1000 ? 2.0f * static_cast<float>(i) : -1) << i;
}

TEST_F(DeviceLaunchTest, PassesEveryKindOfArgument) {
  const std::unique_ptr<Function> kernel = Kernel("kinds", R"(
#ifdef __OPENCL_VERSION__
typedef long int64;
#else
typedef long long int64;
#endif
KERNEL kinds(int small, GLOBAL float* out, int64 large, float real, GLOBAL const float* in) {
  if (THREAD == 0) {
    out[0] = (float)small;
    out[1] = (float)(large >> 40);
    out[2] = real;
    out[3] = in[0];
  }
})");
  const std::unique_ptr<Buffer> in = MakeBuffer({42});
  const std::unique_ptr<Buffer> out = MakeBuffer(std::vector<float>(4));
  ASSERT_EQ(kernel->Launch({.grid = 1, .threads = 32},
                           {int32_t{-7}, out.get(), int64_t{-3} * (int64_t{1} << 40), 0.25f, in.get()}),
            absl::OkStatus());
  EXPECT_THAT(Values(*out), ElementsAre(-7, -3, 0.25, 42));
}

TEST_F(DeviceLaunchTest, GivesDynamicSharedMemory) {
  const std::unique_ptr<Function> reverse =
      Kernel("reverse", "KERNEL reverse(GLOBAL float* values" + SharedParameter() + R"() {
)" + SharedDeclaration() + R"(
  shared[THREAD] = values[BLOCK * THREADS + THREAD];
  SYNC;
  values[BLOCK * THREADS + THREAD] = shared[THREADS - 1 - THREAD];
})");
  const std::unique_ptr<Buffer> values = MakeBuffer({0, 1, 2, 3, 10, 11, 12, 13});
  ASSERT_EQ(reverse->Launch({.grid = 2, .threads = 4, .shared_bytes = 16}, {values.get()}), absl::OkStatus());
  EXPECT_THAT(Values(*values), ElementsAre(3, 2, 1, 0, 13, 12, 11, 10));
}

TEST_F(DeviceLaunchTest, GivesAllSharedMemoryThatThePropertiesPromise) {
  const std::unique_ptr<Function> ends = Kernel("ends", "KERNEL ends(GLOBAL float* values, int last" +
                                                            SharedParameter() + R"() {
)" + SharedDeclaration() + R"(
  if (THREAD == 0) shared[last] = 5;
  SYNC;
  if (THREAD == 1) values[0] = shared[last];
})");
  const size_t bytes = device_->properties().shared_bytes_per_block;
  const std::unique_ptr<Buffer> values = MakeBuffer({0});
  const auto last = static_cast<int32_t>(bytes / sizeof(float) - 1);
  ASSERT_EQ(ends->Launch({.threads = 2, .shared_bytes = bytes}, {values.get(), last}), absl::OkStatus());
  EXPECT_THAT(Values(*values), ElementsAre(5));
  EXPECT_EQ(ends->Launch({.threads = 2, .shared_bytes = bytes + 1}, {values.get(), last}).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(DeviceLaunchTest, AGridOfZeroBlocksLaunchesNothing) {
  const std::unique_ptr<Buffer> values = MakeBuffer({1});
  const std::unique_ptr<Function> scale = Kernel("scale", kScale);
  EXPECT_EQ(scale->Launch({.grid = 0, .threads = 64}, {values.get(), values.get(), int32_t{1}, 2.0f}),
            absl::OkStatus());
  EXPECT_THAT(Values(*values), ElementsAre(1));
}

TEST_F(DeviceLaunchTest, RefusesShapesBeyondTheDevice) {
  const std::unique_ptr<Buffer> values = MakeBuffer({1});
  const std::unique_ptr<Function> scale = Kernel("scale", kScale);
  const std::vector<LaunchArgument> arguments = {values.get(), values.get(), int32_t{1}, 2.0f};
  const int most = scale->attributes().max_threads_per_block;
  EXPECT_GE(most, 64);
  for (const LaunchShape& shape :
       {LaunchShape{.grid = -1}, LaunchShape{.grid = int64_t{1} << 40}, LaunchShape{.threads = 0}}) {
    const absl::Status status = scale->Launch(shape, arguments);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << shape.grid << " " << shape.threads;
    EXPECT_THAT(std::string(status.message()), HasSubstr("launch of scale"));
  }
  const absl::Status wide = scale->Launch({.threads = most + 1}, arguments);
  EXPECT_EQ(wide.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(wide.message()),
              testing::AllOf(HasSubstr("launch of scale"), HasSubstr(std::to_string(most + 1) + " threads"),
                             HasSubstr("supports " + std::to_string(most) + " at most")));
  EXPECT_THAT(Values(*values), ElementsAre(1));
  EXPECT_EQ(scale->Launch({.threads = most}, arguments), absl::OkStatus()) << "the device still works";
  EXPECT_THAT(Values(*values), ElementsAre(2));
}

TEST_F(DeviceLaunchTest, RefusesArgumentsThatAreNotTheKernels) {
  const std::unique_ptr<Buffer> values = MakeBuffer({1});
  const std::unique_ptr<Function> scale = Kernel("scale", kScale);
  const std::shared_ptr<Device> other = Open();
  const std::unique_ptr<Buffer> foreign = BufferOn(other.get(), {1});
  const auto launch = [&scale](const std::vector<LaunchArgument>& arguments) {
    return scale->Launch({.grid = 1, .threads = 1}, arguments);
  };
  const absl::Status few = launch({values.get(), values.get(), int32_t{1}});
  EXPECT_EQ(few.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(few.message()), HasSubstr("3 arguments for 4 parameters"));
  const absl::Status wide = launch({values.get(), values.get(), int64_t{1}, 2.0f});
  EXPECT_EQ(wide.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(wide.message()), HasSubstr("argument 2"));
  const absl::Status not_ours = launch({values.get(), foreign.get(), int32_t{1}, 2.0f});
  EXPECT_EQ(not_ours.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(not_ours.message()), HasSubstr("argument 1 is not a buffer of this device"));
  EXPECT_THAT(Values(*values), ElementsAre(1));
}

TEST_F(DeviceLaunchTest, LaunchesRunInTheirOrder) {
  const std::unique_ptr<Buffer> values = MakeBuffer(std::vector<float>(256, 1));
  const std::unique_ptr<Function> scale = Kernel("scale", kScale);
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(scale->Launch({.grid = 4, .threads = 64}, {values.get(), values.get(), int32_t{256}, 2.0f}),
              absl::OkStatus());
  }
  EXPECT_THAT(Values(*values), Each(1048576.0f));
}

TEST_F(DeviceLaunchTest, FunctionsKeepTheirModuleAndDevice) {
  const std::unique_ptr<Buffer> values = MakeBuffer({1});
  const std::unique_ptr<Function> scale = Kernel("scale", kScale);  // its module object is already destroyed
  device_.reset();
  EXPECT_EQ(scale->Launch({.grid = 1, .threads = 1}, {values.get(), values.get(), int32_t{1}, 3.0f}), absl::OkStatus());
}

TEST_F(DeviceLaunchTest, ThreadsWorkOnDevicesOfTheirOwn) {
  const auto work = [this](float factor, std::vector<float>* result) {
    const std::shared_ptr<Device> device = Open();
    const std::unique_ptr<Function> scale = KernelOn(device.get(), "scale", kScale);
    const std::unique_ptr<Buffer> values = BufferOn(device.get(), std::vector<float>(64, 1));
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(scale->Launch({.grid = 1, .threads = 64}, {values.get(), values.get(), int32_t{64}, factor}),
                absl::OkStatus());
    }
    *result = ValuesOn(device.get(), *values);
  };
  std::vector<float> halves;
  std::vector<float> signs;
  std::thread first(work, 0.5f, &halves);
  std::thread second(work, -1.0f, &signs);
  first.join();
  second.join();
  EXPECT_THAT(halves, Each(0x1p-100f));
  EXPECT_THAT(signs, Each(1.0f));
}

TEST_F(DeviceLaunchTest, OneDeviceServesOneThreadAfterAnother) {
  const std::unique_ptr<Buffer> values = MakeBuffer({1});
  const std::unique_ptr<Function> scale = Kernel("scale", kScale);
  std::thread([&] {
    EXPECT_EQ(scale->Launch({.grid = 1, .threads = 1}, {values.get(), values.get(), int32_t{1}, 3.0f}),
              absl::OkStatus());
    EXPECT_THAT(Values(*values), ElementsAre(3));
  }).join();
  EXPECT_THAT(Values(*values), ElementsAre(3));
}

}  // namespace
}  // namespace telemetry::worker::device
