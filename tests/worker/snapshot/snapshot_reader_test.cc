#include "worker/snapshot/snapshot_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/temp_folder.h"

namespace telemetry::worker::snapshot {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::string kRun(64, 'a');
const std::string kFirst(32, '1');
const std::string kSecond(32, '2');

// The files of a snapshot with one run, two attempts and three rows, to be changed by a test.
class SnapshotTest : public ::testing::Test {
 protected:
  SnapshotTest() {
    runs_ = "{\"run_id\": \"" + kRun +
            "\", \"kernel_name\": \"add\", \"dtypes\": null, \"hardware\": \"H200\", \"settings\": {\"a\": 1}}\n";
    for (const std::string& attempt : {kFirst, kSecond}) {
      attempts_ += "{\"run_id\": \"" + kRun + "\", \"attempt_id\": \"" + attempt +
                   "\", \"origin\": \"ci/1\", \"state\": \"complete\", \"started\": \"2025-03-01T00:00:00.5Z\", "
                   "\"environment\": {\"host\": \"gpu-1\"}, \"counters\": null}\n";
    }
    csv_ =
        "run_id,attempt_id,seq,timestamp_s,generation,status,perf_ms,compile_time_s,config_id,config,source_hash\r\n";
    csv_ += Row(kFirst, 1, "ok,0.5,") + Row(kFirst, 2, "\"odd\r\n\"\"status\"\"\",,1.5") + Row(kSecond, 1, "ok,0.25,");
    details_ = Detail(kFirst, 1, "\"samples_ms\": [0.5, 0.75], \"stage\": \"final\"") +
               Detail(kSecond, 1, "\"sm_clock_mhz\": 1755.0, \"exact_perf_ms\": 0.2501, \"stage\": \"rebenchmark\"");
  }

  static std::string Row(const std::string& attempt, int seq, const std::string& values) {
    return kRun + "," + attempt + "," + std::to_string(seq) + ",1.5,2," + values +
           ",00000000000000ff,\"{\"\"num_warps\"\": 4}\",\r\n";
  }
  static std::string Detail(const std::string& attempt, int seq, const std::string& values) {
    return "{\"attempt_id\": \"" + attempt + "\", \"seq\": " + std::to_string(seq) + ", " + values + "}\n";
  }

  absl::Status Read() {
    Write(".runs.jsonl", runs_);
    Write(".attempts.jsonl", attempts_);
    Write(".csv", csv_);
    Write(".details.jsonl", details_);
    return ReadSnapshot(folder_.File("data"), [this](const v1::ExportItem& item) {
      items_.push_back(item);
      return absl::OkStatus();
    });
  }
  void Write(const std::string& suffix, const std::string& text) {
    if (!text.empty()) std::ofstream(folder_.File("data" + suffix), std::ios::binary) << text;
  }
  std::string Error() {
    const absl::Status status = Read();
    EXPECT_FALSE(status.ok());
    return std::string(status.message());
  }

  TempFolder folder_;
  std::string runs_, attempts_, csv_, details_;  // an empty one is not written
  std::vector<v1::ExportItem> items_;
};

TEST_F(SnapshotTest, IsReadAsItems) {
  const absl::Status status = Read();
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_THAT(items_, SizeIs(6));
  const v1::Run& run = items_[0].run().run();
  EXPECT_EQ(run.run_id(), kRun);
  EXPECT_EQ(run.kernel_name(), "add");
  EXPECT_FALSE(run.has_dtypes());
  EXPECT_EQ(run.settings_json(), "{\"a\": 1}");
  const v1::Attempt& attempt = items_[1].attempt().attempt();
  EXPECT_EQ(attempt.attempt_id(), std::string(16, '\x11'));
  EXPECT_EQ(attempt.origin(), "ci/1");
  EXPECT_EQ(attempt.state(), v1::Attempt::STATE_COMPLETE);
  EXPECT_EQ(attempt.started_unix_us(), 1740787200500000);
  EXPECT_EQ(attempt.environment_json(), "{\"host\": \"gpu-1\"}");
  EXPECT_FALSE(attempt.has_counters_json());
  ASSERT_THAT(items_[2].configs().configs(), SizeIs(1)) << "a config is sent once";
  EXPECT_EQ(items_[2].configs().configs(0).config_id(), 255U);
  EXPECT_EQ(items_[2].configs().configs(0).text(), "Config(num_warps=4)");
  const v1::ExportRows& rows = items_[3].rows();
  ASSERT_THAT(rows.measurements(), SizeIs(2));
  EXPECT_EQ(rows.measurements(0).perf_ms(), 0.5);
  EXPECT_EQ(rows.measurements(0).config_id(), 255U);
  EXPECT_EQ(rows.measurements(0).generation(), 2);
  EXPECT_FALSE(rows.measurements(0).has_compile_time_s());
  EXPECT_EQ(rows.measurements(1).status(), "odd\r\n\"status\"");
  EXPECT_FALSE(rows.measurements(1).has_perf_ms());
  ASSERT_THAT(rows.details(), SizeIs(1));
  EXPECT_EQ(rows.details(0).seq(), 1U);
  EXPECT_THAT(rows.details(0).samples_ms(), ::testing::ElementsAre(0.5, 0.75));
  EXPECT_EQ(items_[5].rows().details(0).exact_perf_ms(), 0.2501);
  EXPECT_EQ(items_[5].rows().details(0).stage(), v1::MeasurementDetail::STAGE_REBENCHMARK);
}

TEST_F(SnapshotTest, NeedsNoDetails) {
  details_.clear();
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(items_[3].rows().details(), SizeIs(0));
}

TEST_F(SnapshotTest, NamesAMissingFile) {
  runs_.clear();
  EXPECT_THAT(Error(), HasSubstr("data.runs.jsonl: cannot be opened"));
}

TEST_F(SnapshotTest, RefusesAnotherLayout) {
  csv_ = "run_id,timestamp_s,config_id,generation,status,perf_ms,compile_time_s,config\r\n";
  EXPECT_THAT(Error(), HasSubstr("data.csv:1: has no column attempt_id"));
}

TEST_F(SnapshotTest, RefusesFilesOfDifferentExports) {
  const std::string csv = csv_;
  csv_ += Row(std::string(32, '3'), 1, "ok,1,");
  EXPECT_THAT(Error(), HasSubstr("data.csv:6: is not of the next attempt"));
  csv_ = csv;
  details_ += Detail(kFirst, 9, "\"stage\": null");
  EXPECT_THAT(Error(), HasSubstr("data.details.jsonl:3: is not of a row"));
  attempts_ = "{\"run_id\": \"" + std::string(64, 'b') + "\", \"attempt_id\": \"" + kFirst + "\"}\n";
  EXPECT_THAT(Error(), HasSubstr("data.attempts.jsonl:1: the .runs.jsonl has no line of the run"));
}

TEST_F(SnapshotTest, RefusesBrokenLines) {
  const std::string csv = csv_;
  csv_ += "torn";
  EXPECT_THAT(Error(), HasSubstr("is not a CSV record of 11 fields"));
  csv_ = csv + Row("x", 1, "ok,1,");
  EXPECT_THAT(Error(), HasSubstr("attempt_id, seq or config_id is wrong"));
  csv_ = csv + kRun + ",\"open";
  EXPECT_THAT(Error(), HasSubstr("is not a CSV record"));
  csv_ = csv;
  details_ = Detail(kFirst, 1, "\"samples_ms\": \"many\"");
  EXPECT_THAT(Error(), HasSubstr("data.details.jsonl:1: samples_ms"));
  details_.clear();
  std::filesystem::remove(folder_.File("data.details.jsonl"));
  attempts_ = "{";
  EXPECT_THAT(Error(), HasSubstr("data.attempts.jsonl:1: "));
}

TEST_F(SnapshotTest, ReturnsTheErrorOfTheCaller) {
  ASSERT_TRUE(Read().ok());
  const absl::Status status =
      ReadSnapshot(folder_.File("data"), [](const auto&) { return absl::CancelledError("no"); });
  EXPECT_EQ(status, absl::CancelledError("no"));
}

}  // namespace
}  // namespace telemetry::worker::snapshot
