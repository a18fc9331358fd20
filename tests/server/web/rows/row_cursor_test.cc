#include "server/web/rows/row_cursor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "server/web/rows/measured_config.h"
#include "server/web/rows/status_table.h"
#include "tests/server/web/web_story.h"

namespace telemetry::web::rows {
namespace {

using storage::AttemptRecord;
using Stages = v1::MeasurementDetail;

v1::Record Measured(uint64_t seq, const std::string& status, double perf_ms, uint64_t config) {
  v1::Record record = storage::Row('A', seq, perf_ms, config);
  record.mutable_measurement()->set_status(status);
  if (perf_ms == 0) record.mutable_measurement()->clear_perf_ms();
  return record;
}

v1::Record Staged(uint64_t seq, v1::MeasurementDetail::Stage stage) {
  v1::Record record;
  record.mutable_measurement_detail()->set_attempt_id(storage::AttemptId('A'));
  record.mutable_measurement_detail()->set_seq(seq);
  record.mutable_measurement_detail()->set_stage(stage);
  return record;
}

// A dataset with one attempt.
class RowCursorTest : public ::testing::Test {
 protected:
  RowCursorTest() { story_.Send({AttemptRecord('A', 'a')}); }

  storage::sql::AttemptKey Key() {
    return {.run = std::stoll(story_.dataset().Query("SELECT run FROM attempts")),
            .attempt = std::stoll(story_.dataset().Query("SELECT attempt FROM attempts"))};
  }
  // Returns "seq stage" of each row after a position.
  std::vector<std::string> Rows(int64_t after = 0) {
    RowCursor cursor(story_.database(), RowCursor::Failures::kRead);
    cursor.Begin(Key(), after);
    std::vector<std::string> rows;
    while (true) {
      const auto found = cursor.Next();
      EXPECT_TRUE(found.ok()) << found.status();
      if (!found.ok() || !*found) return rows;
      rows.push_back(absl::StrCat(cursor.row().seq, " ", std::string(StageName(cursor.row().stage))));
    }
  }
  // Returns "config_key status perf stage" of each config, by config_id.
  std::vector<std::string> Results(int64_t most = 1000) {
    const std::vector<storage::sql::AttemptKey> keys = {Key()};
    const auto measured = ReadMeasuredConfigs(story_.database(), keys, most);
    EXPECT_TRUE(measured.ok()) << measured.status();
    StatusTable statuses(story_.database());
    EXPECT_TRUE(statuses.Refresh().ok());
    std::vector<std::string> results;
    for (const MeasuredConfig& config : measured->configs) {
      results.push_back(absl::StrCat(config.seq, " ", statuses.Name(config.status), " ", config.perf_ms.value_or(-1),
                                     " ", std::string(StageName(config.stage)), " ",
                                     config.compile_time_s.value_or(-1)));
    }
    if (measured->is_cut) results.push_back("cut");
    return results;
  }

  WebStory story_;
};

TEST_F(RowCursorTest, ReadsRowsWithTheirStages) {
  story_.Send({Measured(1, "ok", 1, 1), Measured(3, "ok", 1, 1), Measured(7, "ok", 1, 1),
               Staged(2, Stages::STAGE_FINAL), Staged(3, Stages::STAGE_FINAL), Staged(7, Stages::STAGE_SCREENING)});
  EXPECT_THAT(Rows(), testing::ElementsAre("1 ", "3 final", "7 screening"));
  EXPECT_THAT(Rows(1), testing::ElementsAre("3 final", "7 screening"));
  EXPECT_THAT(Rows(7), testing::IsEmpty());
}

TEST_F(RowCursorTest, ReadsMoreRowsThanAPageHas) {
  std::vector<v1::Record> records;
  for (uint64_t seq = 1; seq <= 4000; ++seq) {
    records.push_back(Measured(seq, "ok", 1, 1));
    if (seq % 2 == 0) records.push_back(Staged(seq, Stages::STAGE_SEARCH));
  }
  story_.Send(records);
  const auto rows = Rows();
  ASSERT_EQ(rows.size(), 4000U);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i], absl::StrCat(i + 1, i % 2 == 1 ? " search" : " "));
  }
}

TEST_F(RowCursorTest, PrefersFinalRowsThenTheFastestThenTheLastFailure) {
  v1::Record compiled = Measured(1, "ok", 3, 1);
  compiled.mutable_measurement()->set_compile_time_s(0.5);
  story_.Send(
      {compiled, Measured(2, "ok", 2, 1), Measured(3, "ok", 2.5, 1),
       Staged(3, Stages::STAGE_FINAL),                                                        // 1: the final row
       Measured(4, "ok", 5, 2), Measured(5, "ok", 4, 2), Measured(6, "ok", 6, 2),             // 2: the fastest
       Measured(7, "ok", 1, 3), Staged(7, Stages::STAGE_SCREENING), Measured(8, "ok", 9, 3),  // 3: not stopped early
       Measured(9, "started", 0, 4), Measured(10, "error", 0, 4), Measured(11, "timeout", 0, 4),  // 4: the last failure
       Measured(12, "started", 0, 5), Measured(13, "ok", 7, 5), Measured(14, "deduplicated", 0, 5)});  // 5
  EXPECT_THAT(Results(), testing::ElementsAre("3 ok 2.5 final 0.5", "5 ok 4  -1", "8 ok 9  -1", "11 timeout -1  -1",
                                              "13 ok 7  -1"));
  EXPECT_THAT(Results(3), testing::ElementsAre("3 ok 2.5 final 0.5", "cut"));
}

TEST_F(RowCursorTest, KnowsWhatStatusesMean) {
  const std::string hostile = "<b>\u202E" + std::string(4000, 'x');
  story_.Send({Measured(1, "ok", 1, 1), Measured(2, "started", 0, 1), Measured(3, "a newer one", 0, 1),
               Measured(4, hostile, 0, 1)});
  StatusTable statuses(story_.database());
  ASSERT_TRUE(statuses.Refresh().ok());
  const auto key = [&](const char* name) {
    return std::stoll(
        story_.dataset().Query(absl::StrCat("SELECT status FROM statuses WHERE name LIKE '", name, "%'")));
  };
  EXPECT_EQ(statuses.Kind(key("ok")), StatusKind::kOk);
  EXPECT_EQ(statuses.Kind(key("started")), StatusKind::kNoResult);
  EXPECT_EQ(statuses.Kind(key("a newer")), StatusKind::kFailed);
  EXPECT_EQ(statuses.Name(key("a newer")), "a newer one");
  EXPECT_LE(statuses.Name(key("<b>")).size(), 303U);
  EXPECT_EQ(statuses.Name(12345), "12345");
  EXPECT_EQ(statuses.Kind(-1), StatusKind::kFailed);
}

}  // namespace
}  // namespace telemetry::web::rows
