#include "worker/compare/quality.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/worker/compare/attempt_builder.h"

namespace telemetry::worker::compare {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns the remarks on a run that is compared alone.
std::vector<std::string> RemarksAlone(const RunSides& run) { return RemarksOn(run, UsualSpreads({run})); }

// Returns a run whose samples all have this spread.
RunSides SidesWithSpread(double spread) {
  RunSides run = SidesOf(AttemptsOf(1, 3), AttemptsOf(1, 3));
  for (std::vector<AttemptTimes>* const side : {&run.base, &run.head}) {
    for (AttemptTimes& attempt : *side) attempt.Of(TimeKind::kBest)->spread = spread;
  }
  return run;
}

TEST(QualityTest, FindsNothingInGoodMeasurements) {
  EXPECT_THAT(RemarksAlone(SidesOf(AttemptsOf(1, 3, 1755), AttemptsOf(1, 3, 1750))), IsEmpty());
  EXPECT_THAT(RemarksAlone(SidesOf(AttemptsOf(1, 3), AttemptsOf(1, 3))), IsEmpty());
  EXPECT_THAT(RemarksAlone(SidesOf({}, {})), IsEmpty());
}

TEST(QualityTest, FindsLowClocks) {
  EXPECT_THAT(RemarksAlone(SidesOf(AttemptsOf(1, 3, 1755), AttemptsOf(1, 2, 1600))),
              ElementsAre("base ran at 1755 MHz, head at 1600 MHz", "2 of 2 attempts of head: a low clock"));
  RunSides run = SidesOf(AttemptsOf(1, 3, 1755), AttemptsOf(1, 3, 1755));
  run.base[1].Of(TimeKind::kBest)->sm_clock_mhz = 1400;
  EXPECT_THAT(RemarksAlone(run), ElementsAre("1 of 3 attempts of base: a low clock"));
}

TEST(QualityTest, FindsThrottledSamples) {
  RunSides run = SidesOf(AttemptsOf(1, 3), AttemptsOf(1, 3));
  run.base[0].Of(TimeKind::kBest)->throttled_samples = 2;
  EXPECT_THAT(RemarksAlone(run), ElementsAre("1 of 3 attempts of base: samples discarded because of a low clock"));
}

TEST(QualityTest, SamplesAreNoisyIfTheySpreadMoreThanUsual) {
  RunSides run = SidesWithSpread(0.04);
  EXPECT_THAT(RemarksAlone(run), IsEmpty());
  run.head[1].Of(TimeKind::kBest)->spread = 0.11;
  EXPECT_THAT(RemarksAlone(run), IsEmpty());
  run.head[1].Of(TimeKind::kBest)->spread = 0.13;
  EXPECT_THAT(RemarksAlone(run), ElementsAre("1 of 3 attempts of head: noisy samples"));
}

TEST(QualityTest, SmallSpreadsAreNoNoise) {
  RunSides run = SidesWithSpread(0.001);
  run.head[1].Of(TimeKind::kBest)->spread = 0.009;
  EXPECT_THAT(RemarksAlone(run), IsEmpty());
  run.head[1].Of(TimeKind::kBest)->spread = 0.011;
  EXPECT_THAT(RemarksAlone(run), ElementsAre("1 of 3 attempts of head: noisy samples"));
}

TEST(QualityTest, FewAttemptsDoNotShowTheUsualSpread) {
  RunSides run = SidesOf(AttemptsOf(1, 3), AttemptsOf(1, 3));
  for (size_t i = 0; i < 3; ++i) run.base[i].Of(TimeKind::kBest)->spread = 0.01;
  run.head[1].Of(TimeKind::kBest)->spread = 0.5;
  EXPECT_EQ(UsualSpreads({run}).Of(run.key), std::nullopt);
  EXPECT_THAT(RemarksAlone(run), IsEmpty());
  // Other shapes of the kernel on the device count; other kernels and devices do not.
  RunSides other = SidesWithSpread(0.01);
  other.key.input_shapes = "[(64, 64)]";
  EXPECT_THAT(RemarksOn(run, UsualSpreads({run, other})), ElementsAre("1 of 3 attempts of head: noisy samples"));
  other.key.hardware = "NVIDIA H100";
  EXPECT_THAT(RemarksOn(run, UsualSpreads({run, other})), IsEmpty());
  other.key.hardware = run.key.hardware;
  other.key.kernel_name = "sum";
  EXPECT_THAT(RemarksOn(run, UsualSpreads({run, other})), IsEmpty());
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
