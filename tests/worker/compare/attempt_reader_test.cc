#include "worker/compare/attempt_reader.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/worker/compare/attempt_builder.h"

namespace telemetry::worker::compare {
namespace {

using Detail = v1::MeasurementDetail;

AttemptTimes Read(AttemptBuilder& attempt) {
  AttemptReader reader(attempt.attempt());
  for (const v1::ExportItem& item : attempt.items()) {
    if (item.has_rows()) reader.Add(item.rows());
    if (item.has_events()) reader.Add(item.events());
  }
  return reader.Finish();
}

// Returns the config of a time, 0 if there is none.
uint64_t ConfigOf(const AttemptTimes& times, TimeKind kind) {
  return times.Of(kind).has_value() ? times.Of(kind)->config_id : 0;
}

double MsOf(const AttemptTimes& times, TimeKind kind) { return std::exp(times.Of(kind).value().median.log); }

TEST(AttemptReaderTest, FindsTheThreeTimes) {
  AttemptBuilder attempt;
  attempt.attempt().set_environment_json(R"({"host": "gpu-1"})");
  attempt.attempt().set_counters_json(R"({"best_config_id": "0000000000000003"})");
  attempt.Row(1, 0, Detail::STAGE_UNSPECIFIED, "started");
  attempt.Row(1, 2.0);
  attempt.Row(2, 0.5, Detail::STAGE_SCREENING);
  attempt.Row(3, 0.9);
  attempt.Row(4, 0.8);
  attempt.Row(3, 1.0, Detail::STAGE_FINAL);
  attempt.Row(4, 0.99, Detail::STAGE_FINAL);
  const AttemptTimes times = Read(attempt);
  EXPECT_EQ(times.host, "gpu-1");
  EXPECT_EQ(ConfigOf(times, TimeKind::kDefault), 1U);
  EXPECT_EQ(ConfigOf(times, TimeKind::kBest), 4U);
  EXPECT_EQ(ConfigOf(times, TimeKind::kChosen), 3U);
  EXPECT_NEAR(MsOf(times, TimeKind::kDefault), 2, 1e-12);
  EXPECT_NEAR(MsOf(times, TimeKind::kBest), 0.99, 1e-12);
  EXPECT_NEAR(MsOf(times, TimeKind::kChosen), 1, 1e-12);
}

TEST(AttemptReaderTest, PrefersTheMedianOfTheSamples) {
  AttemptBuilder attempt;
  Detail& detail = attempt.Row(1, 2.0, Detail::STAGE_FINAL);
  for (const double sample : {1.0, 1.1, 1.2, 1.3, 9.0}) detail.add_samples_ms(sample);
  detail.set_sm_clock_mhz(1755);
  detail.set_throttled_samples(3);
  const MeasuredTime time = Read(attempt).Of(TimeKind::kBest).value();
  EXPECT_NEAR(std::exp(time.median.log), 1.2, 1e-12);
  EXPECT_EQ(time.median.count, 5U);
  EXPECT_TRUE(time.median.variance.has_value());
  EXPECT_EQ(time.sm_clock_mhz, std::optional(1755.0));
  EXPECT_EQ(time.throttled_samples, 3U);
}

TEST(AttemptReaderTest, FallsBackToTheExactTime) {
  AttemptBuilder attempt;
  attempt.Row(1, 0.001).set_exact_perf_ms(0.00123);
  attempt.Row(2, 0.0005).set_exact_perf_ms(-1);
  const AttemptTimes times = Read(attempt);
  EXPECT_NEAR(MsOf(times, TimeKind::kDefault), 0.00123, 1e-12);
  EXPECT_NEAR(MsOf(times, TimeKind::kBest), 0.0005, 1e-12);
}

TEST(AttemptReaderTest, KnowsTheSelectedConfigFromTheTrace) {
  AttemptBuilder attempt;
  attempt.Row(1, 2.0);
  attempt.Row(2, 1.0);
  EXPECT_EQ(ConfigOf(Read(attempt), TimeKind::kChosen), 0U);
  attempt.Selected("0000000000000001");
  EXPECT_EQ(ConfigOf(Read(attempt), TimeKind::kChosen), 1U);
  attempt.Selected("0000000000000007");  // was never measured
  EXPECT_EQ(ConfigOf(Read(attempt), TimeKind::kChosen), 0U);
}

TEST(AttemptReaderTest, TakesOnlyTheDefaultOfAnIncompleteSearch) {
  AttemptBuilder attempt;
  attempt.attempt().set_state(v1::Attempt::STATE_ABANDONED);
  attempt.Row(1, 2.0);
  attempt.Row(2, 1.0, Detail::STAGE_FINAL);
  const AttemptTimes times = Read(attempt);
  EXPECT_EQ(ConfigOf(times, TimeKind::kDefault), 1U);
  EXPECT_EQ(ConfigOf(times, TimeKind::kBest), 0U);
  EXPECT_EQ(ConfigOf(times, TimeKind::kChosen), 0U);
}

TEST(AttemptReaderTest, HasNoDefaultIfTheFirstConfigFailed) {
  AttemptBuilder attempt;
  attempt.Row(1, 0, Detail::STAGE_UNSPECIFIED, "error");
  attempt.Row(2, 1.0);
  const AttemptTimes times = Read(attempt);
  EXPECT_EQ(ConfigOf(times, TimeKind::kDefault), 0U);
  EXPECT_EQ(ConfigOf(times, TimeKind::kBest), 2U);
}

}  // namespace
}  // namespace telemetry::worker::compare
