// The rates of false alarms and of detected slowdowns, by simulation of measurements with known noise.
//
// TELEMETRY_TEST_SEED sets the seed; each test prints it.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <random>
#include <vector>

#include "proto/statistics/median.h"
#include "worker/compare/comparison.h"

namespace telemetry::worker::compare {
namespace {

// The noise of simulated measurements. All are standard deviations, relative to the time.
struct NoiseModel {
  double within = 0.01;      // of the samples of an attempt
  double between = 0.003;    // of the drift of an attempt; its median over runs
  double run_spread = 0.4;   // of the logarithm of `between` from run to run
  double search = 0.002;     // of the best time, because searches find different configs
  double throttled = 0.005;  // share of the attempts that run 3% to 10% too slowly
  int least_samples = 5;
  int most_samples = 25;
};

// A suite of runs, compared once.
struct Suite {
  size_t runs = 1;
  size_t base_attempts = 5;
  size_t head_attempts = 5;
  double slowdown = 1;  // of the head, in the first `slow_runs` runs
  size_t slow_runs = 0;
  NoiseModel noise;
};

class Simulator {
 public:
  explicit Simulator(uint64_t seed) : random_(seed) {}

  RunSides Run(const Suite& suite, bool is_slow) {
    const double between = suite.noise.between * std::exp(suite.noise.run_spread * normal_(random_));
    const double log_ms = std::uniform_real_distribution<double>(std::log(0.005), std::log(5))(random_);
    RunSides run = {.key = {.hardware = "H"}};
    for (size_t i = 0; i < suite.base_attempts; ++i) run.base.push_back(Attempt(suite.noise, log_ms, between));
    const double change = is_slow ? std::log(suite.slowdown) : 0;
    for (size_t i = 0; i < suite.head_attempts; ++i) run.head.push_back(Attempt(suite.noise, log_ms + change, between));
    return run;
  }

 private:
  // Heavy tails: Student's t with four degrees of freedom, scaled to a standard deviation of 1.
  double Drift() { return heavy_(random_) / std::sqrt(2.0); }

  AttemptTimes Attempt(const NoiseModel& noise, double log_ms, double between) {
    double drift = between * Drift();
    if (uniform_(random_) < noise.throttled) drift += 0.03 + 0.07 * uniform_(random_);
    AttemptTimes attempt;
    for (const TimeKind kind : {TimeKind::kBest, TimeKind::kDefault}) {
      const double luck = kind == TimeKind::kBest ? noise.search * std::abs(normal_(random_)) : 0;
      attempt.Of(kind) = Measure(noise, log_ms + drift + luck);
    }
    return attempt;
  }

  MeasuredTime Measure(const NoiseModel& noise, double log_ms) {
    const int count = std::uniform_int_distribution<int>(noise.least_samples, noise.most_samples)(random_);
    std::vector<double> samples;
    for (int i = 0; i < count; ++i) {
      double sample = noise.within * Drift();
      if (uniform_(random_) < 0.02) sample += 0.2 * uniform_(random_);  // an interrupt
      samples.push_back(std::exp(log_ms + sample));
    }
    return {.median = *statistics::MedianOfLogs(samples)};
  }

  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> heavy_{4};
  std::uniform_real_distribution<double> uniform_;
};

uint64_t Seed() {
  const char* const text = std::getenv("TELEMETRY_TEST_SEED");
  return text == nullptr ? 20250301 : std::strtoull(text, nullptr, 10);
}

// Counts of verdicts over many suites.
struct Rates {
  size_t runs = 0;
  size_t slower = 0;
  size_t faster = 0;
  size_t unsure = 0;
  size_t comparisons = 0;          // of whole suites
  size_t alarmed_comparisons = 0;  // with an alarm

  double alarms() const { return static_cast<double>(slower + faster) / static_cast<double>(runs); }
};

// Simulates suites until they have this many runs; counts the slow runs if the suite has some, else all runs.
Rates Simulate(const char* name, const Suite& suite, size_t runs) {
  Simulator simulator(Seed());
  Rates rates;
  while (rates.runs < runs) {
    std::vector<RunSides> sides;
    for (size_t i = 0; i < suite.runs; ++i) sides.push_back(simulator.Run(suite, i < suite.slow_runs));
    const std::vector<RunComparison> compared = CompareRuns(sides, CompareOptions());
    const size_t alarms_before = rates.slower + rates.faster;
    for (size_t i = 0; i < (suite.slow_runs == 0 ? suite.runs : suite.slow_runs); ++i) {
      ++rates.runs;
      rates.slower += compared[i].verdict == Verdict::kSlower ? 1 : 0;
      rates.faster += compared[i].verdict == Verdict::kFaster ? 1 : 0;
      rates.unsure += compared[i].verdict == Verdict::kUnsure ? 1 : 0;
    }
    ++rates.comparisons;
    rates.alarmed_comparisons += rates.slower + rates.faster > alarms_before ? 1 : 0;
  }
  std::printf("seed %llu: %s: of %zu runs %zu slower, %zu faster, %zu unsure; an alarm in %zu of %zu comparisons\n",
              static_cast<unsigned long long>(Seed()), name, rates.runs, rates.slower, rates.faster, rates.unsure,
              rates.alarmed_comparisons, rates.comparisons);
  return rates;
}

constexpr size_t kManyRuns = 20000;
constexpr double kMostAlarms = 0.001;

struct AlarmCase {
  const char* name;
  Suite suite;
};

void PrintTo(const AlarmCase& value, std::ostream* out) { *out << value.name; }

class FalseAlarmTest : public ::testing::TestWithParam<AlarmCase> {};

TEST_P(FalseAlarmTest, EqualCodeRaisesFewAlarms) {
  EXPECT_LT(Simulate(GetParam().name, GetParam().suite, kManyRuns).alarms(), kMostAlarms);
}

constexpr NoiseModel kVeryNoisy = {.within = 0.03, .between = 0.02, .run_spread = 1};

INSTANTIATE_TEST_SUITE_P(
    ErrorRates, FalseAlarmTest,
    ::testing::Values(AlarmCase{"one_run_5_and_5_attempts", {.runs = 1}},
                      AlarmCase{"one_run_8_and_8_attempts", {.runs = 1, .base_attempts = 8, .head_attempts = 8}},
                      AlarmCase{"40_runs_3_and_3_attempts", {.runs = 40, .base_attempts = 3, .head_attempts = 3}},
                      AlarmCase{"40_runs_20_and_3_attempts", {.runs = 40, .base_attempts = 20, .head_attempts = 3}},
                      AlarmCase{"8_noisy_runs_6_and_6_attempts",
                                {.runs = 8, .base_attempts = 6, .head_attempts = 6, .noise = kVeryNoisy}},
                      AlarmCase{"40_runs_3_and_3_often_throttled_attempts",
                                {.runs = 40, .base_attempts = 3, .head_attempts = 3, .noise = {.throttled = 0.03}}}),
    [](const auto& info) { return info.param.name; });

struct SlowdownCase {
  const char* name;
  size_t runs = 1;
  size_t base_attempts = 8;
  size_t head_attempts = 8;
  double least_found = 0.95;
};

void PrintTo(const SlowdownCase& value, std::ostream* out) { *out << value.name; }

class SlowdownTest : public ::testing::TestWithParam<SlowdownCase> {};

TEST_P(SlowdownTest, ASlowdownOfThreePercentIsFound) {
  const SlowdownCase& slowdown = GetParam();
  const Suite suite = {.runs = slowdown.runs,
                       .base_attempts = slowdown.base_attempts,
                       .head_attempts = slowdown.head_attempts,
                       .slowdown = 1.03,
                       .slow_runs = (slowdown.runs + 9) / 10};
  const Rates rates = Simulate(slowdown.name, suite, 1000);
  EXPECT_GT(static_cast<double>(rates.slower) / static_cast<double>(rates.runs), slowdown.least_found);
  EXPECT_EQ(rates.faster, 0U);
}

INSTANTIATE_TEST_SUITE_P(ErrorRates, SlowdownTest,
                         ::testing::Values(SlowdownCase{"one_run_8_and_8_attempts"},
                                           SlowdownCase{"20_runs_8_and_8_attempts", 20},
                                           SlowdownCase{"100_runs_20_and_3_attempts", 100, 20, 3},
                                           SlowdownCase{"20_runs_20_and_5_attempts", 20, 20, 5},
                                           SlowdownCase{"20_runs_6_and_6_attempts", 20, 6, 6, 0.9},
                                           SlowdownCase{"20_runs_5_and_5_attempts", 20, 5, 5, 0.8}),
                         [](const auto& info) { return info.param.name; });

// With one attempt of a side, no slowdown raises an alarm, however large it is.
TEST(ErrorRatesTest, SingleAttemptsAreUnsure) {
  const Suite suite = {.runs = 20, .base_attempts = 8, .head_attempts = 1, .slowdown = 2, .slow_runs = 20};
  const Rates rates = Simulate("one attempt", suite, 200);
  EXPECT_EQ(rates.unsure, rates.runs);
}

// Few samples leave the verdict open; they raise no alarm.
TEST(ErrorRatesTest, FewSamplesRaiseFewAlarms) {
  Suite suite = {.runs = 10, .base_attempts = 3, .head_attempts = 3};
  suite.noise.least_samples = 1;
  suite.noise.most_samples = 2;
  EXPECT_LT(Simulate("one or two samples", suite, kManyRuns).alarms(), kMostAlarms);
}

}  // namespace
}  // namespace telemetry::worker::compare
