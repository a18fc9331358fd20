#include "worker/tune/measure/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/worker/tune/measure/measure_fixture.h"
#include "worker/device/open_device.h"

namespace telemetry::worker::tune::measure {
namespace {

class SamplerTest : public MeasureTest {
 protected:
  const std::unique_ptr<Sampler> sampler_ = Sampler::Create(device::OpenDevice(DeviceName()).value()).value();
};

// More launches than are queued at once.
TEST_F(SamplerTest, TakesASampleOfEachLaunchInTheirOrder) {
  std::vector<int> launched;
  std::vector<Sampler::Launch> launches;
  for (int i = 0; i < 7; ++i) {
    launches.emplace_back([&launched, i] {
      launched.push_back(i);
      return absl::OkStatus();
    });
  }
  EXPECT_EQ(sampler_->Take(launches)->size(), 7u);
  EXPECT_THAT(launched, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_EQ(sampler_->Take({})->size(), 0u);
}

TEST_F(SamplerTest, ReturnsTheErrorOfALaunch) {
  const std::vector<Sampler::Launch> launches(5, [] { return absl::InternalError("no launch"); });
  EXPECT_EQ(sampler_->Take(launches).status(), absl::InternalError("no launch"));
}

}  // namespace
}  // namespace telemetry::worker::tune::measure
