#include "worker/tune/recording/attempt_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/worker/tune/recording/memory_producer.h"
#include "tests/worker/tune/recording/sample_attempt.h"
#include "worker/tune/recording/statuses.h"

namespace telemetry::worker::tune::recording {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Kinds = std::vector<v1::Record::KindCase>;

class AttemptRecorderTest : public testing::Test {
 protected:
  AttemptRecorderTest() : log_(OpenLog()), recorder_(MakeRecorder()) {}

  std::unique_ptr<SidecarLog> OpenLog() {
    return SidecarLog::Open({.base = folder_.File("tune"), .on_notice = {}}).value();
  }
  std::unique_ptr<AttemptRecorder> MakeRecorder() {
    return AttemptRecorder::Create(SampleAttempt(), {.producer = &producer_, .log = log_.get()}).value();
  }
  Kinds KindsFrom(size_t first) const {
    Kinds kinds;
    for (size_t i = first; i < producer_.records().size(); ++i) kinds.push_back(producer_.records()[i].kind_case());
    return kinds;
  }
  std::string LogText() const { return ReadFile(folder_.File("tune.csv")); }

  TempFolder folder_;
  MemoryProducer producer_;
  std::unique_ptr<SidecarLog> log_;
  std::unique_ptr<AttemptRecorder> recorder_;
};

TEST_F(AttemptRecorderTest, BeginsWithTheRunItsGraphsAndAnOpenAttempt) {
  ASSERT_TRUE(recorder_->Begin().ok());
  ASSERT_THAT(KindsFrom(0),
              ElementsAre(v1::Record::kRun, v1::Record::kIrGraph, v1::Record::kIrGraph, v1::Record::kAttempt));
  EXPECT_EQ(producer_.records()[1].ir_graph().run_id(), SampleAttempt().run.run_id());
  EXPECT_EQ(producer_.records()[1].ir_graph().kind(), "device");
  EXPECT_EQ(producer_.records()[2].ir_graph().run_id(), SampleAttempt().run.run_id());
  EXPECT_EQ(producer_.records()[2].ir_graph().kind(), "wrapper");
  const v1::Attempt& attempt = producer_.records()[3].attempt();
  EXPECT_EQ(attempt.attempt_id(), std::string(16, 'x'));
  EXPECT_EQ(attempt.run_id(), SampleAttempt().run.run_id());
  EXPECT_EQ(attempt.state(), v1::Attempt::STATE_OPEN);
  EXPECT_EQ(attempt.started_unix_us(), 1'700'000'000'123'456);
  EXPECT_EQ(attempt.origin(), "github:acme/kernels/17");
  EXPECT_EQ(attempt.search_algorithm(), "PatternSearch");
  EXPECT_EQ(attempt.seed(), 11);
  EXPECT_EQ(attempt.environment_json(), R"({"host": "runner-1", "ci": null})");
  EXPECT_FALSE(attempt.has_counters_json());
  EXPECT_FALSE(attempt.provisional());
  EXPECT_EQ(attempt.dialect(), "");
}

TEST_F(AttemptRecorderTest, ARowAnnouncesItsConfigOnceAndIsNumbered) {
  const std::vector<AttemptRow> rows = SampleRows();
  ASSERT_TRUE(recorder_->Rows({rows[0]}).ok());
  EXPECT_THAT(KindsFrom(0), ElementsAre(v1::Record::kConfig, v1::Record::kRunConfig, v1::Record::kMeasurement));
  ASSERT_TRUE(recorder_->Rows({rows[1]}).ok());
  EXPECT_THAT(KindsFrom(3),
              ElementsAre(v1::Record::kMeasurement, v1::Record::kSourceHash, v1::Record::kMeasurementDetail));
  EXPECT_EQ(producer_.records()[0].config().text(), "Config(indexing=['pointer'], num_warps=4)");
  EXPECT_EQ(producer_.records()[1].run_config().record_keys_json(), R"(["indexing", "num_warps"])");
  EXPECT_EQ(producer_.records()[2].measurement().seq(), 1u);
  EXPECT_EQ(producer_.records()[3].measurement().seq(), 2u);
  EXPECT_EQ(producer_.records()[3].measurement().perf_ms(), 0.0317761234);
  EXPECT_EQ(producer_.records()[3].measurement().config_id(), SampleConfig(4).id());
  EXPECT_EQ(producer_.records()[4].source_hash().seq(), 2u);
  EXPECT_EQ(producer_.records()[5].measurement_detail().seq(), 2u);
  EXPECT_EQ(producer_.records()[5].measurement_detail().attempt_id(), std::string(16, 'x'));
  EXPECT_EQ(recorder_->next_seq(), 3u);
}

TEST_F(AttemptRecorderTest, AFailureTravelsWithItsRow) {
  ASSERT_TRUE(recorder_->Rows({SampleRows()[3]}).ok());
  const v1::Measurement& row = producer_.records().back().measurement();
  EXPECT_EQ(row.status(), "error");
  EXPECT_EQ(row.failure().phase(), "check");
  EXPECT_FALSE(row.has_perf_ms());
}

TEST_F(AttemptRecorderTest, WhatIsNotFiniteIsNotRecorded) {
  AttemptRow row = SampleRows()[1];
  row.perf_ms = std::numeric_limits<double>::infinity();
  row.compile_time_s = std::nan("");
  row.detail->clear_samples_ms();
  for (const double ms : {0.5, std::nan(""), 0.25}) row.detail->add_samples_ms(ms);
  row.detail->set_worst_absolute_error(std::nan(""));
  row.detail->set_worst_relative_error(std::numeric_limits<double>::infinity());
  ASSERT_TRUE(recorder_->Rows({row}).ok());
  const v1::MeasurementDetail& detail = producer_.records().back().measurement_detail();
  EXPECT_THAT(detail.samples_ms(), ElementsAre(0.5, 0.25));
  EXPECT_FALSE(detail.has_worst_absolute_error());
  EXPECT_FALSE(detail.has_worst_relative_error());
  EXPECT_EQ(detail.registers(), 40u);
  const v1::Measurement& measurement = producer_.records()[2].measurement();
  EXPECT_FALSE(measurement.has_perf_ms());
  EXPECT_FALSE(measurement.has_compile_time_s());
  EXPECT_THAT(LogText(), HasSubstr(",ok,,,"));
}

TEST_F(AttemptRecorderTest, ARowThatIsWrongLeavesNothing) {
  ASSERT_TRUE(recorder_->Rows({SampleRows()[1]}).ok());
  const size_t before = producer_.records().size();
  const std::string log = LogText();
  const std::pair<void (*)(AttemptRow&), const char*> cases[] = {
      {[](AttemptRow& row) { row.timestamp_s = std::nan(""); }, "finite"},
      {[](AttemptRow& row) { row.timestamp_s = 0.5; }, "before the last row"},
      {[](AttemptRow& row) { row.status = ""; }, "status"},
      {[](AttemptRow& row) { row.source_hash = "ABCDEF012345"; }, "source_hash"},
      {[](AttemptRow& row) { row.source_hash = "abc"; }, "source_hash"},
  };
  for (const auto& [change, what] : cases) {
    AttemptRow row = SampleRows()[2];
    change(row);
    const absl::Status status = recorder_->Rows({row});
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << what;
    EXPECT_THAT(std::string(status.message()), HasSubstr(what));
  }
  EXPECT_EQ(producer_.records().size(), before);
  EXPECT_EQ(LogText(), log);
  EXPECT_EQ(recorder_->next_seq(), 2u);
}

TEST_F(AttemptRecorderTest, RowsOfOneCallAreRecordedTogetherOrNotAtAll) {
  std::vector<AttemptRow> rows = {SampleRows()[0], SampleRows()[1]};
  rows[1].config = rows[0].config;
  AttemptRow invalid = rows[1];
  invalid.status = "";
  const absl::Status status = recorder_->Rows({rows[0], rows[1], invalid});
  EXPECT_THAT(std::string(status.message()), HasSubstr("row 3"));
  EXPECT_TRUE(producer_.records().empty());
  const size_t calls = producer_.appends();
  ASSERT_TRUE(recorder_->Rows(rows).ok());
  EXPECT_EQ(producer_.appends(), calls + 1);
  const Kinds kinds = KindsFrom(0);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), v1::Record::kConfig), 1);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), v1::Record::kMeasurement), 2);
  EXPECT_EQ(recorder_->next_seq(), 3u);
}

TEST_F(AttemptRecorderTest, ARowThatCouldNotBeRecordedComesAgainUnderItsNumber) {
  const std::string log = LogText();
  producer_.FailWith(absl::ResourceExhaustedError("the disk is full"));
  EXPECT_TRUE(absl::IsResourceExhausted(recorder_->Rows({SampleRows()[0]})));
  EXPECT_EQ(LogText(), log);
  producer_.FailWith(absl::OkStatus());
  ASSERT_TRUE(recorder_->Rows({SampleRows()[0]}).ok());
  EXPECT_THAT(KindsFrom(0), ElementsAre(v1::Record::kConfig, v1::Record::kRunConfig, v1::Record::kMeasurement));
  EXPECT_EQ(producer_.records().back().measurement().seq(), 1u);
}

TEST_F(AttemptRecorderTest, EndsWithItsStateAndCountersOnDisk) {
  ASSERT_TRUE(recorder_->Begin().ok());
  ASSERT_TRUE(recorder_->Rows({SampleRows()[0]}).ok());
  const record::Json counters = record::ParseJson(R"({"configs_tested": 1})").value();
  ASSERT_TRUE(recorder_->End(v1::Attempt::STATE_ABANDONED, counters).ok());
  v1::Attempt attempt = producer_.records().back().attempt();
  EXPECT_EQ(attempt.state(), v1::Attempt::STATE_ABANDONED);
  EXPECT_EQ(attempt.counters_json(), R"({"configs_tested": 1})");
  attempt.clear_counters_json();
  attempt.set_state(v1::Attempt::STATE_OPEN);
  EXPECT_EQ(attempt.DebugString(), producer_.records()[3].attempt().DebugString());
  EXPECT_EQ(producer_.flushes(), 1);
  EXPECT_THAT(ReadFile(folder_.File("tune.meta.jsonl")), HasSubstr(R"("num_warps": 4)"));
}

TEST_F(AttemptRecorderTest, AResumedAttemptRecordsTheSameAsOneThatWasNotInterrupted) {
  const std::vector<AttemptRow> rows = SampleRows();
  MemoryProducer whole_producer;
  TempFolder whole_folder;
  const auto whole_log = SidecarLog::Open({.base = whole_folder.File("tune"), .on_notice = {}}).value();
  RecordWhole(SampleAttempt(), rows, {.producer = &whole_producer, .log = whole_log.get()});

  ASSERT_TRUE(recorder_->Begin().ok());
  for (size_t i = 0; i < 5; ++i) ASSERT_TRUE(recorder_->Rows({rows[i]}).ok());
  // The process is killed after it saved row 6 and before it recorded the row; another process continues.
  producer_ = MemoryProducer();
  log_ = OpenLog();
  recorder_ = MakeRecorder();
  ASSERT_TRUE(recorder_->Begin().ok());
  for (size_t i = 0; i < 6; ++i) ASSERT_TRUE(recorder_->Replay(rows[i]).ok());
  for (size_t i = 6; i < rows.size(); ++i) ASSERT_TRUE(recorder_->Rows({rows[i]}).ok());
  ASSERT_TRUE(recorder_
                  ->End(v1::Attempt::STATE_COMPLETE,
                        record::ParseJson(whole_producer.records().back().attempt().counters_json()).value())
                  .ok());

  ASSERT_EQ(producer_.records().size(), whole_producer.records().size());
  for (size_t i = 0; i < producer_.records().size(); ++i) {
    EXPECT_EQ(producer_.records()[i].SerializeAsString(), whole_producer.records()[i].SerializeAsString()) << i;
  }
  for (const char* name : {"tune.csv", "tune.sources.csv", "tune.meta.jsonl"}) {
    EXPECT_EQ(ReadFile(folder_.File(name)), ReadFile(whole_folder.File(name))) << name;
  }
}

TEST_F(AttemptRecorderTest, OneSinkIsEnough) {
  TempFolder folder;
  const auto log = SidecarLog::Open({.base = folder.File("tune"), .on_notice = {}}).value();
  MemoryProducer producer;
  RecordWhole(SampleAttempt(), SampleRows(), {.producer = nullptr, .log = log.get()});
  RecordWhole(SampleAttempt(), SampleRows(), {.producer = &producer, .log = nullptr});
  EXPECT_NE(ReadFile(folder.File("tune.meta.jsonl")), "");
  EXPECT_EQ(producer.records().back().attempt().state(), v1::Attempt::STATE_COMPLETE);
}

TEST(AttemptRecorder, WhatCannotBeRecordedIsRefusedAtOnce) {
  MemoryProducer producer;
  const AttemptSinks sinks = {.producer = &producer, .log = nullptr};
  const auto refused = [&](void (*change)(AttemptInfo&), AttemptSinks where) {
    AttemptInfo info = SampleAttempt();
    change(info);
    return absl::IsInvalidArgument(AttemptRecorder::Create(info, where).status());
  };
  EXPECT_TRUE(refused([](AttemptInfo&) {}, {}));
  EXPECT_TRUE(refused([](AttemptInfo& info) { info.attempt_id = "short"; }, sinks));
  EXPECT_TRUE(refused([](AttemptInfo& info) { info.run.clear_run_id(); }, sinks));
  EXPECT_TRUE(refused([](AttemptInfo& info) { info.environment = record::Json::Null(); }, sinks));
}

TEST(AttemptRecorder, AttemptIdsDiffer) {
  EXPECT_EQ(NewAttemptId().size(), 16u);
  EXPECT_NE(NewAttemptId(), NewAttemptId());
}

}  // namespace
}  // namespace telemetry::worker::tune::recording
