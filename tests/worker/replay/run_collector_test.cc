#include "worker/replay/run_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace telemetry::worker::replay {
namespace {

using Detail = v1::MeasurementDetail;
using ::testing::SizeIs;

// A collector with one run; its configs are Config(n=1), Config(n=2), ... with these ids.
class RunCollectorTest : public ::testing::Test {
 protected:
  RunCollectorTest() {
    BeginRun('a');
    v1::ExportItem item;
    for (uint64_t id = 1; id < 9; ++id) {
      v1::Config& config = *item.mutable_configs()->add_configs();
      config.set_config_id(id);
      config.set_text("Config(n=" + std::to_string(id) + ")");
    }
    collector_.Take(item);
  }

  // `letter` names the run.
  void BeginRun(char letter) {
    v1::ExportItem item;
    item.mutable_run()->mutable_run()->set_run_id(std::string(64, letter));
    collector_.Take(item);
  }
  void BeginAttempt(int64_t started_us = 1) {
    v1::ExportItem item;
    item.mutable_attempt()->mutable_attempt()->set_started_unix_us(started_us);
    collector_.Take(item);
    seq_ = 0;
  }
  // Adds a row of a config; no time if perf_ms is 0.
  void Row(uint64_t config, const std::string& status, double timestamp_s, double perf_ms = 0, double compile_s = 0,
           Detail::Stage stage = Detail::STAGE_SEARCH) {
    v1::ExportItem item;
    v1::Measurement& row = *item.mutable_rows()->add_measurements();
    row.set_seq(++seq_);
    row.set_config_id(config);
    row.set_status(status);
    row.set_timestamp_s(timestamp_s);
    if (perf_ms > 0) row.set_perf_ms(perf_ms);
    if (compile_s > 0) row.set_compile_time_s(compile_s);
    Detail& detail = *item.mutable_rows()->add_details();
    detail.set_seq(seq_);
    detail.set_stage(stage);
    detail.add_samples_ms(500);
    collector_.Take(item);
  }
  StoredRun Finish() {
    std::vector<StoredRun> runs = collector_.Finish();
    EXPECT_THAT(runs, SizeIs(1));
    return runs.empty() ? StoredRun() : runs[0];
  }

  RunCollector collector_;
  uint64_t seq_ = 0;
};

TEST_F(RunCollectorTest, CostsAreCompileAndMeasuringTimes) {
  BeginAttempt();
  Row(2, "started", 1.0);
  Row(2, "ok", 1.25, 4.0, 2.0);
  Row(1, "ok", 1.5, 3.0, 1.0);  // without a row "started": the samples count
  const StoredRun run = Finish();
  ASSERT_THAT(run.configs, SizeIs(2));
  EXPECT_EQ(run.configs[0].config.ToString(), "Config(n=2)") << "the first one that was measured is the default";
  EXPECT_EQ(run.configs[0].perf_ms, 4.0);
  EXPECT_DOUBLE_EQ(run.configs[0].cost_s, 2.25);
  EXPECT_DOUBLE_EQ(run.configs[1].cost_s, 1.5);
  EXPECT_EQ(run.left_out, 0U);
}

// The dataset was joined from several snapshots.
TEST_F(RunCollectorTest, UnitesTheRowsOfARunThatComesAgain) {
  BeginAttempt();
  Row(1, "ok", 0, 4.0, 1.0);
  BeginRun('b');
  BeginAttempt();
  Row(2, "ok", 0, 8.0, 1.0);
  BeginRun('a');
  BeginAttempt();
  Row(1, "ok", 0, 6.0, 1.0);
  Row(3, "ok", 0, 5.0, 1.0);
  const std::vector<StoredRun> runs = collector_.Finish();
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(runs[0].run_id, std::string(64, 'a'));
  ASSERT_THAT(runs[0].configs, SizeIs(2));
  EXPECT_EQ(runs[0].configs[0].perf_ms, 5.0) << "the median of both attempts";
  EXPECT_EQ(runs[1].run_id, std::string(64, 'b'));
  EXPECT_THAT(runs[1].configs, SizeIs(1));
}

TEST_F(RunCollectorTest, UnitesAttempts) {
  BeginAttempt(/*started_us=*/20);
  Row(3, "ok", 0, 4.0, 1.0);
  BeginAttempt(/*started_us=*/10);
  Row(1, "ok", 0, 9.0, 1.0);
  Row(3, "ok", 0, 2.0, 3.0);
  const StoredRun run = Finish();
  ASSERT_THAT(run.configs, SizeIs(2));
  EXPECT_EQ(run.configs[0].config.ToString(), "Config(n=1)") << "the earlier attempt decides";
  EXPECT_EQ(run.configs[1].perf_ms, 3.0);
  EXPECT_DOUBLE_EQ(run.configs[1].cost_s, 2.5);
}

TEST_F(RunCollectorTest, PrefersCompleteMeasurementsOfTheSearch) {
  BeginAttempt();
  Row(1, "ok", 0, 4.0, 1.0);
  Row(1, "ok", 0, 3.0, 0.5, Detail::STAGE_FINAL);
  Row(2, "ok", 0, 9.0, 1.0, Detail::STAGE_SCREENING);
  const StoredRun run = Finish();
  EXPECT_EQ(run.configs[0].perf_ms, 4.0);
  EXPECT_DOUBLE_EQ(run.configs[0].cost_s, 1.5);
  EXPECT_EQ(run.configs[1].perf_ms, 9.0);
}

TEST_F(RunCollectorTest, KeepsFailuresAndLeavesOutConfigsThatDidNotRun) {
  BeginAttempt();
  Row(1, "ok", 0, 4.0, 1.0);
  Row(2, "error", 0, 0, 2.0);
  Row(3, "filtered", 0);
  Row(4, "deduplicated", 0);
  Row(5, "started", 0);
  Row(99, "ok", 0, 1.0, 1.0);  // a config without a text
  const StoredRun run = Finish();
  ASSERT_THAT(run.configs, SizeIs(2));
  EXPECT_EQ(run.configs[1].perf_ms, std::nullopt);
  EXPECT_DOUBLE_EQ(run.configs[1].cost_s, 2.5);
  EXPECT_EQ(run.left_out, 4U);
}

}  // namespace
}  // namespace telemetry::worker::replay
