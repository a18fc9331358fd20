#include "worker/tune/measure/clock_watch.h"

#include <gtest/gtest.h>

#include <vector>

namespace telemetry::worker::tune::measure {
namespace {

constexpr double kBestMhz = 2000;

ClockWatch WatchOf(const std::vector<Sample>& samples) {
  ClockWatch watch;
  watch.Learn(samples);
  return watch;
}

TEST(ClockWatchTest, ALowClockIsOneBelowTheBest) {
  const ClockWatch watch = WatchOf(std::vector<Sample>(3, {0.01, kBestMhz}));
  EXPECT_FALSE(watch.IsLow({0.01, 0.96 * kBestMhz}));
  EXPECT_TRUE(watch.IsLow({0.01, 0.94 * kBestMhz}));
  EXPECT_FALSE(watch.IsLow({0.01, 0})) << "not known";
}

TEST(ClockWatchTest, AFewShortSamplesAreTooNoisyForTheBestClock) {
  const Sample usual = {0.01, kBestMhz};
  EXPECT_FALSE(WatchOf({{0.01, 2 * kBestMhz}, {0.01, 2 * kBestMhz}}).IsLow(usual));
  EXPECT_FALSE(WatchOf({{0.01, 2 * kBestMhz}, usual, usual}).IsLow(usual)) << "the median counts";
  EXPECT_FALSE(WatchOf({{0.01, 2 * kBestMhz}, {0.01, 0}, {0.01, 0}}).IsLow(usual)) << "one clock is known";
  EXPECT_TRUE(WatchOf({{1, 2 * kBestMhz}}).IsLow(usual)) << "a long sample";
}

TEST(ClockWatchTest, ATimeAtALowClockIsAtMostAsMuchShorterAtTheBest) {
  const ClockWatch watch = WatchOf(std::vector<Sample>(3, {0.01, kBestMhz}));
  EXPECT_DOUBLE_EQ(watch.LeastMs({0.2, 0.7 * kBestMhz}), 0.14);
  EXPECT_EQ(watch.LeastMs({0.2, 0.96 * kBestMhz}), 0.2);
  EXPECT_EQ(watch.LeastMs({0.2, 0}), 0.2) << "not known";
  EXPECT_EQ(ClockWatch().LeastMs({0.2, kBestMhz}), 0.2);
}

}  // namespace
}  // namespace telemetry::worker::tune::measure
