#include "worker/compare/quality.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/worker/compare/attempt_builder.h"

namespace telemetry::worker::compare {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(QualityTest, FindsNothingInGoodMeasurements) {
  EXPECT_THAT(RemarksOn(SidesOf(AttemptsOf(1, 3, 1755), AttemptsOf(1, 3, 1750))), IsEmpty());
  EXPECT_THAT(RemarksOn(SidesOf(AttemptsOf(1, 3), AttemptsOf(1, 3))), IsEmpty());
  EXPECT_THAT(RemarksOn(SidesOf({}, {})), IsEmpty());
}

TEST(QualityTest, FindsLowClocks) {
  EXPECT_THAT(RemarksOn(SidesOf(AttemptsOf(1, 3, 1755), AttemptsOf(1, 2, 1600))),
              ElementsAre("base ran at 1755 MHz, head at 1600 MHz", "2 of 2 attempts of head: a low clock"));
  RunSides run = SidesOf(AttemptsOf(1, 3, 1755), AttemptsOf(1, 3, 1755));
  run.base[1].Of(TimeKind::kBest)->sm_clock_mhz = 1400;
  EXPECT_THAT(RemarksOn(run), ElementsAre("1 of 3 attempts of base: a low clock"));
}

TEST(QualityTest, FindsThrottledAndNoisySamples) {
  RunSides run = SidesOf(AttemptsOf(1, 3), AttemptsOf(1, 3));
  run.base[0].Of(TimeKind::kBest)->throttled_samples = 2;
  run.head[0].Of(TimeKind::kBest)->spread = 0.06;
  run.head[1].Of(TimeKind::kBest)->spread = 0.04;
  EXPECT_THAT(RemarksOn(run), ElementsAre("1 of 3 attempts of base: samples discarded because of a low clock",
                                          "1 of 3 attempts of head: noisy samples"));
}

TEST(QualityTest, FindsASlowMachine) {
  RunSides run = SidesOf(AttemptsOf(1, 3, 0, "gpu-1"), AttemptsOf(1.2, 3, 0, "gpu-1"));
  run.base.push_back(AttemptOf(1.04, 0, "gpu-2"));
  run.base.push_back(AttemptOf(1, 0, "gpu-3"));
  EXPECT_THAT(RemarksOnHosts({run, run}), IsEmpty());
  EXPECT_THAT(RemarksOnHosts({run, run, run}),
              ElementsAre("gpu-2, NVIDIA H200 is 4.0% slower than its peers in 3 comparisons"));
}

}  // namespace
}  // namespace telemetry::worker::compare
