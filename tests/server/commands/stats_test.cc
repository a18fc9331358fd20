// Tests the counts of the command stats while a collector serves the dataset, in both kinds of database.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "proto/record/json.h"
#include "server/storage/any/any_upkeep.h"
#include "tests/run_program.h"
#include "tests/server/storage/dataset_story.h"
#include "tests/server/storage/model_files.h"

namespace telemetry::commands {
namespace {

using record::Json;
using storage::AttemptRecord;
using storage::DatasetStory;
using storage::Row;
using storage::RunRecord;
using ::testing::HasSubstr;

std::string Text(const Json& json, std::initializer_list<const char*> path) {
  const Json* at = &json;
  for (const char* key : path) {
    at = at->Find(key);
    if (at == nullptr) return "(none)";
  }
  return at->text;
}

// Stores a run with two attempts of three rows, and a record that is refused.
void Fill(DatasetStory& story) {
  v1::Record ended = AttemptRecord('x', 'a');
  ended.mutable_attempt()->set_state(v1::Attempt::STATE_COMPLETE);
  v1::Record failed = Row('y', 2, 1);
  failed.mutable_measurement()->set_status("error");
  story.Send({RunRecord('a'), ended, AttemptRecord('y', 'a'), Row('x', 1, 1), Row('y', 1, 1), failed, RunRecord(' ')});
  storage::CachePut put = {.sender = "token a", .entry = {}};
  put.entry.set_key("k");
  EXPECT_TRUE(story.writer().PutCacheEntries({put}, {}).ok());
  const std::string model = storage::ModelFile("t");
  EXPECT_TRUE(story.writer()
                  .ChangeModels(storage::ModelPut{.sender = "token b", .request = storage::ModelPart(model)}, {})
                  .ok());
}

TEST(Stats, CountsWhatIsThere) {
  DatasetStory story;
  Fill(story);
  const absl::StatusOr<storage::upkeep::DatasetStats> stats = storage::any::ReadStats(story.path());
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->runs, 1);
  EXPECT_EQ(stats->attempts.at("complete"), 1);
  EXPECT_EQ(stats->measurements.at("ok"), 2);
  EXPECT_EQ(stats->measurements.at("error"), 1);
  EXPECT_EQ(stats->rejects.size(), 1u);
  EXPECT_EQ(stats->cache_bytes.at("token a"), storage::kCacheEntryBaseBytes + 1);
  EXPECT_EQ(stats->model_bytes.at("token b"), storage::ModelFile("t").size());
  ASSERT_EQ(stats->rows_by_day.size(), 1u);
  EXPECT_EQ(stats->rows_by_day.begin()->second, 3);
  ASSERT_EQ(stats->producers.size(), 1u);
  EXPECT_EQ(stats->producers.front().committed_seq, 7);
  EXPECT_EQ(stats->oldest_unix_us, stats->newest_unix_us);
  EXPECT_GT(stats->database_bytes, 0);
}

TEST(Stats, GoesThroughAllAttempts) {
  DatasetStory story;
  constexpr int kAttempts = 450;
  std::vector<v1::Record> records = {RunRecord('a')};
  for (int i = 0; i < kAttempts; ++i) {
    v1::Record attempt = AttemptRecord('x', 'a');
    v1::Record row = Row('x', 1, 1);
    std::string id = attempt.attempt().attempt_id();
    id.replace(0, 3, std::to_string(100 + i));
    attempt.mutable_attempt()->set_attempt_id(id);
    row.mutable_measurement()->set_attempt_id(id);
    records.push_back(attempt);
    records.push_back(row);
  }
  story.Send(records);
  EXPECT_EQ(storage::any::ReadStats(story.path())->measurements.at("ok"), kAttempts);
}

TEST(Stats, TellMachinesWithTheSameDeviceApart) {
  DatasetStory story;
  v1::Record run = RunRecord('a');
  run.mutable_run()->set_hardware("NVIDIA H200");
  const auto attempt = [](char letter, const char* environment) {
    v1::Record record = AttemptRecord(letter, 'a');
    record.mutable_attempt()->set_environment_json(environment);
    return record;
  };
  const auto detail = [](char letter, uint64_t seq, double mhz, int throttled, std::vector<double> samples_ms) {
    v1::Record record = storage::DetailRecord(letter, seq);
    v1::MeasurementDetail& detail = *record.mutable_measurement_detail();
    detail.set_sm_clock_mhz(mhz);
    detail.set_throttled_samples(throttled);
    detail.mutable_samples_ms()->Assign(samples_ms.begin(), samples_ms.end());
    return record;
  };
  story.Send({run, attempt('x', R"({"host": "cool"})"), attempt('y', R"({"host": "hot"})"), AttemptRecord('z', 'a'),
              Row('x', 1, 1), Row('y', 1, 1), Row('y', 2, 1), detail('x', 1, 1980, 0, {1, 1, 1, 1, 1}),
              detail('y', 1, 1500, 3, {1, 2, 3, 4, 5}), detail('y', 2, 1700, 0, {1, 1, 1, 1, 1})});
  const absl::StatusOr<storage::upkeep::DatasetStats> stats = storage::any::ReadStats(story.path());
  ASSERT_TRUE(stats.ok()) << stats.status();
  ASSERT_EQ(stats->devices.size(), 3u);
  const storage::upkeep::DeviceStats& cool = stats->devices.at({.hardware = "NVIDIA H200", .host = "cool"});
  EXPECT_EQ(cool.throttled, 0);
  EXPECT_EQ(cool.ClockMhz(), 1980);
  EXPECT_EQ(cool.Spread(), 0);
  const storage::upkeep::DeviceStats& hot = stats->devices.at({.hardware = "NVIDIA H200", .host = "hot"});
  EXPECT_EQ(hot.attempts, 1);
  EXPECT_EQ(hot.results, 2);
  EXPECT_EQ(hot.throttled, 1);
  EXPECT_EQ(hot.ClockMhz(), 1600);
  EXPECT_NEAR(*hot.Spread(), (2.0 / 3) / 2, 1e-12);
  EXPECT_EQ(stats->devices.at({.hardware = "NVIDIA H200", .host = ""}).ClockMhz(), std::nullopt);
  const ProgramOutcome table = RunProgram("telemetry-collector", "stats --db '" + story.path() + "'");
  EXPECT_THAT(
      table.output,
      HasSubstr("NVIDIA H200 on hot                                1            2      50.0%       1600   33.3%"));
}

TEST(Stats, AreATableOrJsonBesideACollector) {
  DatasetStory story;  // holds the dataset's lock, as a collector does
  Fill(story);
  const ProgramOutcome table = RunProgram("telemetry-collector", "stats --db '" + story.path() + "'");
  EXPECT_EQ(table.exit_status, 0) << table.output;
  for (const char* word : {"attempts", "complete", "error", "rejects", "producers", "database"}) {
    EXPECT_THAT(table.output, HasSubstr(word));
  }
  const ProgramOutcome printed = RunProgram("telemetry-collector", "stats --json --db '" + story.path() + "'");
  const absl::StatusOr<Json> json = record::ParseJson(printed.output);
  ASSERT_TRUE(json.ok()) << printed.output;
  EXPECT_EQ(Text(*json, {"runs"}), "1");
  EXPECT_EQ(Text(*json, {"measurements", "ok"}), "2");
  EXPECT_EQ(json->Find("producers")->items.size(), 1u);
  EXPECT_EQ(Text(json->Find("producers")->items[0], {"committed_seq"}), "7");
}

TEST(Stats, OfNothingAreNothingAndOfNoDatasetAnError) {
  DatasetStory story;
  const ProgramOutcome empty = RunProgram("telemetry-collector", "stats --json --db '" + story.path() + "'");
  EXPECT_EQ(empty.exit_status, 0) << empty.output;
  EXPECT_THAT(empty.output, HasSubstr("\"oldest_attempt\": null"));
  EXPECT_EQ(RunProgram("telemetry-collector", "stats --db /nonexistent/dataset.db").exit_status, 1);
}

}  // namespace
}  // namespace telemetry::commands
