#include "worker/tune/measure/round_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace telemetry::worker::tune::measure {
namespace {

using testing::ElementsAre;

ClockWatch WatchAt(double mhz) {
  ClockWatch watch;
  watch.Learn(std::vector<Sample>(3, {1, mhz}));
  return watch;
}

TEST(RoundSeriesTest, KeepsSamplesOfOneRoundTogether) {
  const ClockWatch watch = WatchAt(1000);
  RoundSeries series(2, 2);
  EXPECT_EQ(series.Next(), 2);
  series.Add({{1, 1000}, {2, 1000}, {3, 1000}, {4, 500}}, watch);
  EXPECT_EQ(series.Next(), 1) << "the second round was throttled";
  series.Add({{5, 1000}, {6, 1000}}, watch);
  EXPECT_EQ(series.Next(), 0);
  wire::Outcome a;
  wire::Outcome b;
  series.Describe(0, &a);
  series.Describe(1, &b);
  EXPECT_THAT(a.samples_ms(), ElementsAre(1, 5));
  EXPECT_THAT(b.samples_ms(), ElementsAre(2, 6));
  EXPECT_EQ(a.dropped_throttled(), 1);
  EXPECT_EQ(b.perf_ms(), 4);
}

TEST(RoundSeriesTest, TakesALowClockThatStays) {
  const ClockWatch watch = WatchAt(1000);
  RoundSeries series(1, 3);
  int rounds = 0;
  while (const int next = series.Next()) {
    series.Add(std::vector<Sample>(static_cast<size_t>(next), {2, 500}), watch);
    rounds += next;
  }
  EXPECT_LE(rounds, 9);
  wire::Outcome outcome;
  series.Describe(0, &outcome);
  EXPECT_TRUE(outcome.throttled_throughout());
  EXPECT_EQ(outcome.perf_ms(), 2);
}

TEST(RoundSeriesTest, TheDeviceRestsAfterALowClock) {
  const ClockWatch watch = WatchAt(1000);
  RoundSeries series(2, 100);
  const absl::Duration took = absl::Milliseconds(10);
  series.Add({{1, 1000}, {2, 1000}}, watch);
  EXPECT_EQ(series.Rest(took), absl::ZeroDuration());
  series.Add({{1, 1000}, {2, 500}, {3, 1000}, {4, 1000}}, watch);
  EXPECT_EQ(series.Rest(took), 3 * took);
  series.Add({{1, 1000}, {2, 1000}}, watch);
  EXPECT_EQ(series.Rest(took), absl::ZeroDuration());
}

TEST(RoundSeriesTest, TheDeviceDoesNotRestForALowClockThatStays) {
  const ClockWatch watch = WatchAt(1000);
  RoundSeries series(1, 1000);
  absl::Duration rested;
  for (int i = 0; i < 1000; ++i) {
    series.Add({{1, 500}}, watch);
    rested += series.Rest(absl::Milliseconds(10));
  }
  EXPECT_EQ(rested, RoundSeries::kMostRest);
}

TEST(RoundSeriesTest, NothingToMeasureIsDone) { EXPECT_EQ(RoundSeries(0, 5).Next(), 0); }

}  // namespace
}  // namespace telemetry::worker::tune::measure
