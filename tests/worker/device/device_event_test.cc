#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/worker/device/device_fixture.h"

namespace telemetry::worker::device {
namespace {

using testing::ElementsAre;

using DeviceEventTest = DeviceTest;

constexpr char kSpin[] = R"(
KERNEL spin(GLOBAL float* out, int rounds) {
  float x = out[THREAD];
  for (int i = 0; i < rounds; ++i) x = x * 0.5f + 1.0f;
  out[THREAD] = x;
})";

TEST_F(DeviceEventTest, TimeDoesNotGoBackwards) {
  const std::unique_ptr<Function> spin = Kernel("spin", kSpin);
  const std::unique_ptr<Buffer> out = MakeBuffer({0});
  std::vector<std::unique_ptr<Event>> events;
  for (int i = 0; i < 10; ++i) {
    events.push_back(device_->Record().value());
    ASSERT_EQ(spin->Launch({.grid = 1, .threads = 1}, {out.get(), int32_t{100}}), absl::OkStatus());
  }
  double all_ms = 0;
  for (size_t i = 1; i < events.size(); ++i) {
    const double ms = device_->ElapsedMs(*events[i - 1], *events[i]).value();
    EXPECT_GE(ms, 0) << i;
    all_ms += ms;
  }
  EXPECT_NEAR(device_->ElapsedMs(*events.front(), *events.back()).value(), all_ms, 0.05);
  EXPECT_EQ(device_->ElapsedMs(*events[3], *events[3]).value(), 0);
}

TEST_F(DeviceEventTest, LongerWorkTakesLonger) {
  const std::unique_ptr<Function> spin = Kernel("spin", kSpin);
  const std::unique_ptr<Buffer> out = MakeBuffer({0});
  const auto measure = [&](int32_t rounds) {
    const std::unique_ptr<Event> begin = device_->Record().value();
    EXPECT_EQ(spin->Launch({.grid = 1, .threads = 1}, {out.get(), rounds}), absl::OkStatus());
    const std::unique_ptr<Event> end = device_->Record().value();
    return device_->ElapsedMs(*begin, *end).value();
  };
  measure(1);  // warm-up
  const double short_ms = measure(1);
  EXPECT_GT(measure(20'000'000), short_ms);
}

TEST_F(DeviceEventTest, SynchronizeWaitsForAll) {
  const std::unique_ptr<Function> spin = Kernel("spin", kSpin);
  const std::unique_ptr<Buffer> out = MakeBuffer({2});
  EXPECT_EQ(device_->Synchronize(), absl::OkStatus());
  ASSERT_EQ(spin->Launch({.grid = 1, .threads = 1}, {out.get(), int32_t{1000}}), absl::OkStatus());
  EXPECT_EQ(device_->Synchronize(), absl::OkStatus());
  EXPECT_THAT(Values(*out), ElementsAre(2));
}

TEST_F(DeviceEventTest, RefusesAnotherDevicesEvents) {
  const std::shared_ptr<Device> other = Open();
  const std::unique_ptr<Event> own = device_->Record().value();
  const std::unique_ptr<Event> foreign = other->Record().value();
  EXPECT_EQ(device_->ElapsedMs(*own, *foreign).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace telemetry::worker::device
