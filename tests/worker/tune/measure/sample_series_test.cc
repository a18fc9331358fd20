#include "worker/tune/measure/sample_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace telemetry::worker::tune::measure {
namespace {

constexpr double kBest = 2000;

wire::Effort EffortFor(double give_up_above_ms = std::numeric_limits<double>::infinity()) {
  wire::Effort effort;
  effort.set_give_up_above_ms(give_up_above_ms);
  effort.set_min_samples(8);
  effort.set_max_samples(50);
  effort.set_precision(0.01);
  effort.set_budget_ms(20);
  return effort;
}

// A series with samples of a simulated device whose clock and noise the test defines. Some tests make every tenth
// sample an outlier.
struct SampledSeries {
  explicit SampledSeries(const wire::Effort& effort, double first_run_ms = 0.1) : series(effort, first_run_ms) {
    watch.Learn(std::vector<Sample>(3, {1, kBest}));
  }

  template <typename Time>
  wire::Outcome To(Time sample) {
    for (int batch = series.Next(elapsed); batch > 0; batch = series.Next(elapsed)) {
      std::vector<Sample> samples;
      for (int i = 0; i < batch; ++i) samples.push_back(sample(taken++));
      for (const Sample& s : samples) elapsed += absl::Milliseconds(s.ms);
      series.Add(samples, watch);
      if (taken > 10000) break;
    }
    wire::Outcome outcome;
    series.Describe(&outcome);
    return outcome;
  }

  SampleSeries series;
  ClockWatch watch;
  absl::Duration elapsed;
  int taken = 0;
};

// Samples that differ by 2 % and more.
Sample Noisy(int i) { return {0.1 * (1 + 0.02 * (i % 3)), kBest}; }

TEST(SampleSeriesTest, AConfigFarFromTheBestGetsTheFewestSamples) {
  wire::Effort effort = EffortFor();
  effort.set_precision(0.002);
  EXPECT_GT(SampledSeries(effort).To(Noisy).samples_ms_size(), 30);
  effort.set_far_above_ms(0.11);
  EXPECT_GT(SampledSeries(effort).To(Noisy).samples_ms_size(), 30) << "it is not far";
  effort.set_far_above_ms(0.098);
  const wire::Outcome outcome = SampledSeries(effort).To(Noisy);
  EXPECT_GE(outcome.samples_ms_size(), 8);
  EXPECT_LE(outcome.samples_ms_size(), 15);
  EXPECT_NEAR(outcome.perf_ms(), 0.102, 0.001);
}

TEST(SampleSeriesTest, AConfigFarFromTheBestWithoutNoiseGetsThreeSamples) {
  wire::Effort effort = EffortFor();
  const auto quiet = [](int i) { return Sample{0.1 + 1e-5 * (i % 3), kBest}; };
  EXPECT_EQ(SampledSeries(effort).To(quiet).samples_ms_size(), 8);
  effort.set_far_above_ms(0.09);
  EXPECT_EQ(SampledSeries(effort).To(quiet).samples_ms_size(), 3);
}

TEST(SampleSeriesTest, TheFartherAConfigIsTheFewerSamplesItNeeds) {
  // The median is 0.104 ms, and three samples know it to 4%.
  const auto noisy = [](int i) { return Sample{0.1 * (1 + 0.04 * (i % 3)), kBest}; };
  const auto samples = [&](double far_above_ms) {
    wire::Effort effort = EffortFor();
    effort.set_max_samples(200);
    effort.set_far_above_ms(far_above_ms);
    return SampledSeries(effort).To(noisy).samples_ms_size();
  };
  EXPECT_GT(samples(/*far_above_ms=*/0.1), 20) << "an error of 1%";
  EXPECT_NEAR(samples(/*far_above_ms=*/0.095), 12, 3) << "an error of 2.2%";
  EXPECT_LE(samples(/*far_above_ms=*/0.08), 6) << "an error of 3%";
  EXPECT_EQ(samples(/*far_above_ms=*/0.01), samples(/*far_above_ms=*/0.08)) << "never more than 3%";
}

TEST(SampleSeriesTest, AConfigWithLongSamplesGetsFewerOfThem) {
  wire::Effort effort = EffortFor();
  effort.set_max_samples(200);
  effort.set_precision(0.005);
  const auto samples = [&](double ms) {
    return SampledSeries(effort)
        .To([ms](int i) {
          return Sample{ms * (1 + 0.013 * (i % 3)), kBest};
        })
        .samples_ms_size();
  };
  EXPECT_NEAR(samples(0.01), 20, 4) << "an error of 0.5%";
  EXPECT_LE(samples(0.25), 12) << "an error of 0.8% after 3 ms";
}

TEST(SampleSeriesTest, EndsWhenTheMedianIsKnown) {
  SampledSeries run(EffortFor());
  const wire::Outcome outcome = run.To([](int i) { return Sample{i % 10 == 9 ? 1.0 : 0.1, kBest}; });
  EXPECT_EQ(outcome.perf_ms(), 0.1);
  EXPECT_GE(outcome.samples_ms_size(), 8);
  EXPECT_LT(outcome.samples_ms_size(), 40);
  EXPECT_EQ(outcome.dropped_throttled(), 0);
  EXPECT_EQ(outcome.sm_clock_mhz(), kBest);
}

TEST(SampleSeriesTest, NoiseNeedsMoreSamplesUpToTheBudget) {
  SampledSeries run(EffortFor());
  const wire::Outcome outcome = run.To([](int i) { return Sample{1 + 0.5 * std::sin(i), kBest}; });
  EXPECT_NEAR(outcome.samples_ms_size(), 20, 8) << "a budget of 20 ms, 1 ms per sample";
  EXPECT_LE(SampledSeries(EffortFor())
                .To([](int i) {
                  return Sample{0.01 + 0.005 * std::sin(i), kBest};
                })
                .samples_ms_size(),
            50);
}

TEST(SampleSeriesTest, SlowConfigsGetThreeSamples) {
  SampledSeries run(EffortFor(), /*first_run_ms=*/1000);
  EXPECT_EQ(run.To([](int) { return Sample{1000, kBest}; }).samples_ms_size(), 3);
}

TEST(SampleSeriesTest, GivesUpAfterThreeSamples) {
  SampledSeries run(EffortFor(/*give_up_above_ms=*/1));
  const wire::Outcome outcome = run.To([](int) { return Sample{1.1, kBest}; });
  EXPECT_TRUE(outcome.gave_up());
  EXPECT_FALSE(outcome.has_perf_ms());
  EXPECT_EQ(outcome.samples_ms_size(), 3);
}

TEST(SampleSeriesTest, OneFastSampleKeepsItInTheRace) {
  SampledSeries run(EffortFor(/*give_up_above_ms=*/1));
  const wire::Outcome outcome = run.To([](int i) { return Sample{i == 1 ? 0.9 : 1.1, kBest}; });
  EXPECT_FALSE(outcome.gave_up());
  EXPECT_EQ(outcome.perf_ms(), 1.1);
}

TEST(SampleSeriesTest, GivesUpAfterOneSampleIfTheFirstRunWasSlowToo) {
  SampledSeries run(EffortFor(/*give_up_above_ms=*/1), /*first_run_ms=*/1.3);
  const wire::Outcome outcome = run.To([](int) { return Sample{1.1, kBest}; });
  EXPECT_TRUE(outcome.gave_up());
  EXPECT_EQ(outcome.samples_ms_size(), 1);
}

TEST(SampleSeriesTest, AFirstRunThatReadTheCodeSlowlyIsForgotten) {
  SampledSeries run(EffortFor(/*give_up_above_ms=*/1), /*first_run_ms=*/1.3);
  EXPECT_EQ(run.series.Next(run.elapsed), 1);
  run.series.Add({{0.9, kBest}}, run.watch);
  EXPECT_EQ(run.series.Next(run.elapsed), 2);
  const wire::Outcome outcome = run.To([](int) { return Sample{0.9, kBest}; });
  EXPECT_FALSE(outcome.gave_up());
  EXPECT_EQ(outcome.perf_ms(), 0.9);
  EXPECT_GE(outcome.samples_ms_size(), 8);
}

TEST(SampleSeriesTest, AFirstRunThatIsALittleSlowerThanTheLimitShowsNothing) {
  SampledSeries run(EffortFor(/*give_up_above_ms=*/1), /*first_run_ms=*/1.15);
  EXPECT_EQ(run.series.Next(run.elapsed), 3) << "it read the code";
}

TEST(SampleSeriesTest, AFirstRunOfAnotherTimeDoesNotConfirmASlowSample) {
  // The config takes 0.012 ms. Its first run read the code slowly, and one sample was disturbed.
  SampledSeries run(EffortFor(/*give_up_above_ms=*/0.036), /*first_run_ms=*/0.25);
  const wire::Outcome outcome = run.To([](int i) { return Sample{i == 0 ? 0.04 : 0.012, kBest}; });
  EXPECT_FALSE(outcome.gave_up());
  EXPECT_EQ(outcome.perf_ms(), 0.012);
}

TEST(SampleSeriesTest, ALowClockIsNoReasonToGiveUp) {
  // At the best clock perhaps 0.84 ms.
  SampledSeries run(EffortFor(/*give_up_above_ms=*/1), /*first_run_ms=*/1.4);
  const wire::Outcome outcome = run.To([](int) { return Sample{1.2, 0.7 * kBest}; });
  EXPECT_FALSE(outcome.gave_up());
  EXPECT_EQ(outcome.perf_ms(), 1.2);
}

TEST(SampleSeriesTest, DoesNotRepeatWhatIsHopeless) {
  SampledSeries run(EffortFor(/*give_up_above_ms=*/1), /*first_run_ms=*/5000);
  EXPECT_EQ(run.To([](int) { return Sample{5000, kBest}; }).samples_ms_size(), 1);
}

TEST(SampleSeriesTest, AnExactEffortGivesEveryConfigTheSameNumber) {
  wire::Effort effort = EffortFor(/*give_up_above_ms=*/1);
  effort.set_far_above_ms(0.5);
  effort.set_exact(true);
  for (const int samples : {1, 7, 50}) {
    effort.set_max_samples(samples);
    const wire::Outcome slow = SampledSeries(effort, /*first_run_ms=*/5000).To([](int) { return Sample{5000, kBest}; });
    EXPECT_EQ(slow.samples_ms_size(), samples);
    EXPECT_FALSE(slow.gave_up());
    EXPECT_EQ(slow.perf_ms(), 5000);
    EXPECT_EQ(SampledSeries(effort).To([](int) { return Sample{0.001, kBest}; }).samples_ms_size(), samples);
    EXPECT_EQ(SampledSeries(effort).To(Noisy).samples_ms_size(), samples);
  }
}

TEST(SampleSeriesTest, AnExactEffortEndsEarlyAtALowClockThatStays) {
  wire::Effort effort = EffortFor();
  effort.set_far_above_ms(0.01);
  effort.set_exact(true);
  const wire::Outcome outcome = SampledSeries(effort).To([](int) { return Sample{0.2, 0.7 * kBest}; });
  EXPECT_TRUE(outcome.throttled_throughout());
  EXPECT_GE(outcome.samples_ms_size(), 16) << "also if it is far";
  EXPECT_LT(outcome.samples_ms_size(), 50);
}

TEST(SampleSeriesTest, DropsWhatWasTakenAtALowClock) {
  SampledSeries run(EffortFor());
  const wire::Outcome outcome = run.To([](int i) {
    return i % 4 == 0 ? Sample{0.2, 0.7 * kBest} : Sample{0.1, 0.99 * kBest};
  });
  EXPECT_EQ(outcome.perf_ms(), 0.1);
  EXPECT_THAT(outcome.samples_ms(), testing::Each(0.1));
  EXPECT_GT(outcome.dropped_throttled(), 0);
  EXPECT_FALSE(outcome.throttled_throughout());
}

TEST(SampleSeriesTest, ALowClockThatStaysIsToldAndNotWaitedFor) {
  SampledSeries run(EffortFor());
  const wire::Outcome outcome = run.To([](int) { return Sample{0.2, 0.7 * kBest}; });
  EXPECT_TRUE(outcome.throttled_throughout());
  EXPECT_EQ(outcome.perf_ms(), 0.2);
  EXPECT_EQ(outcome.dropped_throttled(), 0) << "all samples count";
  EXPECT_LE(run.taken, 100);
}

TEST(SampleSeriesTest, ALowClockDoesNotHideThatAConfigIsFarFromTheBest) {
  // At the best clock at least 0.14 ms.
  const auto samples = [](double far_above_ms) {
    wire::Effort effort = EffortFor();
    effort.set_far_above_ms(far_above_ms);
    const wire::Outcome outcome = SampledSeries(effort).To([](int) { return Sample{0.2, 0.7 * kBest}; });
    EXPECT_TRUE(outcome.throttled_throughout());
    EXPECT_EQ(outcome.perf_ms(), 0.2);
    return outcome.samples_ms_size();
  };
  EXPECT_EQ(samples(/*far_above_ms=*/0.13), 3);
  EXPECT_GE(samples(/*far_above_ms=*/0.141), 16) << "it may be as fast as the best";
}

TEST(SampleSeriesTest, NoiseAtALowClockNeedsMoreSamplesAlsoIfTheConfigIsFar) {
  wire::Effort effort = EffortFor();
  effort.set_far_above_ms(0.13);
  const wire::Outcome outcome = SampledSeries(effort).To([](int i) {
    return Sample{0.2 * (1 + 0.2 * (i % 3)), 0.7 * kBest};
  });
  EXPECT_TRUE(outcome.throttled_throughout());
  EXPECT_GE(outcome.samples_ms_size(), 16);
}

TEST(SampleSeriesTest, SamplesAtAUsualClockCountAloneIfThereAreThree) {
  wire::Effort effort = EffortFor();
  effort.set_far_above_ms(0.1);
  const wire::Outcome outcome = SampledSeries(effort).To([](int i) {
    return i % 2 == 0 ? Sample{0.2 + 0.03 * (i % 3), kBest} : Sample{0.5, 0.7 * kBest};
  });
  EXPECT_FALSE(outcome.throttled_throughout());
  EXPECT_GE(outcome.samples_ms_size(), 3);
  EXPECT_THAT(outcome.samples_ms(), testing::Each(testing::Lt(0.3)));
  EXPECT_GT(outcome.dropped_throttled(), 0);
}

TEST(SampleSeriesTest, AnUnknownClockIsNotLow) {
  SampledSeries run(EffortFor());
  const wire::Outcome outcome = run.To([](int) { return Sample{0.2, 0}; });
  EXPECT_EQ(outcome.dropped_throttled(), 0);
  EXPECT_EQ(outcome.sm_clock_mhz(), 0);
}

}  // namespace
}  // namespace telemetry::worker::tune::measure
