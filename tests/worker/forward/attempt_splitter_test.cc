#include "worker/forward/attempt_splitter.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/record/sidecar/csv_parser.h"
#include "tests/worker/forward/test_files.h"

namespace telemetry::worker::forward {
namespace {

using ::testing::ElementsAre;

record::sidecar::Row Row(double timestamp_s, const std::string& status, uint64_t config_id, int64_t generation = 0) {
  record::sidecar::Row row;
  row.run_id = std::string(64, 'a');
  row.timestamp_s = timestamp_s;
  row.status = status;
  row.config_id = config_id;
  row.generation = generation;
  row.compile_time_s = 0.03;
  return row;
}

record::sidecar::Row Counted(uint64_t config_index, double timestamp_s, const std::string& status, uint64_t config_id) {
  record::sidecar::Row row = Row(timestamp_s, status, config_id);
  row.config_index = config_index;
  return row;
}

std::vector<size_t> Split(const std::vector<record::sidecar::Row>& rows) {
  AttemptSplitter splitter;
  std::vector<size_t> attempts;
  for (const record::sidecar::Row& row : rows) attempts.push_back(splitter.Place(row).attempt);
  return attempts;
}

TEST(AttemptSplitter, OneProcessIsOneAttempt) {
  EXPECT_THAT(Split({Row(0.1, "started", 1), Row(5, "ok", 1), Row(5, "started", 2, 1), Row(6, "ok", 2, 1)}),
              ElementsAre(0, 0, 0, 0));
}

TEST(AttemptSplitter, TimeDoesNotRunBackwards) {
  EXPECT_THAT(Split({Row(0.11, "started", 1), Row(0.10, "started", 1), Row(0.10, "error", 1), Row(14.1, "ok", 1)}),
              ElementsAre(0, 1, 1, 0));
}

TEST(AttemptSplitter, AStartWhileAnotherConfigRunsIsAnotherProcess) {
  EXPECT_THAT(Split({Row(0.1, "started", 1), Row(0.2, "started", 2), Row(0.3, "ok", 1), Row(0.4, "ok", 2)}),
              ElementsAre(0, 1, 0, 1));
}

TEST(AttemptSplitter, TheSameFirstConfigAgainIsARestart) {
  EXPECT_THAT(Split({Row(0.1, "started", 1), Row(0.1, "error", 1), Row(0.2, "started", 1), Row(3, "ok", 1)}),
              ElementsAre(0, 0, 1, 1));
}

TEST(AttemptSplitter, ConfigIndexCountsAnAttemptsRows) {
  EXPECT_THAT(Split({Counted(1, 0.21, "started", 1), Counted(1, 0.23, "started", 1), Counted(2, 0.23, "error", 1),
                     Counted(2, 16.4, "ok", 1), Counted(3, 17, "started", 2), Counted(1, 17.5, "started", 1)}),
              ElementsAre(0, 1, 1, 0, 0, 2));
}

TEST(AttemptSplitter, ALostRowDoesNotCutAnAttempt) {
  EXPECT_THAT(Split({Counted(1, 0.2, "started", 1), Counted(3, 0.5, "started", 2), Counted(4, 0.6, "ok", 2)}),
              ElementsAre(0, 0, 0));
}

TEST(AttemptSplitter, RunsAreApart) {
  record::sidecar::Row other = Row(0.2, "started", 1);
  other.run_id = std::string(64, 'b');
  EXPECT_THAT(Split({Row(0.1, "started", 1), other, Row(0.3, "ok", 1)}), ElementsAre(0, 1, 0));
}

TEST(AttemptSplitter, SeqIsTheConfigIndexElseThePosition) {
  AttemptSplitter splitter;
  EXPECT_EQ(splitter.Place(Row(0.1, "started", 1)).seq, 1U);
  EXPECT_EQ(splitter.Place(Row(0.2, "ok", 1)).seq, 2U);
  AttemptSplitter counted;
  EXPECT_EQ(counted.Place(Counted(7, 0.1, "started", 1)).seq, 7U);
}

// Returns the number of rows of each attempt, ordered by first rows.
std::vector<int> AttemptSizes(const std::string& sample) {
  record::sidecar::CsvParser csv;
  std::vector<record::sidecar::CsvParser::Item> items;
  csv.Feed(ReadFile(Sample(sample)), &items);
  AttemptSplitter splitter;
  std::map<size_t, int> sizes;
  for (const auto& item : items) {
    if (item.kind == record::sidecar::CsvParser::Kind::kRow) ++sizes[splitter.Place(item.row).attempt];
  }
  std::vector<int> result;
  for (const auto& [attempt, size] : sizes) result.push_back(size);
  return result;
}

TEST(AttemptSplitter, RealFiles) {
  EXPECT_THAT(AttemptSizes("helion-main/bmm.csv"), ElementsAre(84));
  EXPECT_THAT(AttemptSizes("helion-main/rms_norm.csv"), ElementsAre(36));
  EXPECT_THAT(AttemptSizes("helion-pr2750/long_sum.csv"), ElementsAre(58));
  EXPECT_THAT(AttemptSizes("helion-v1.1/softmax_two_pass.csv"), ElementsAre(44));
  // Files of several processes; the expected sizes were determined by hand.
  EXPECT_THAT(AttemptSizes("helion-main/softmax.csv"), ElementsAre(58, 2, 2));
  EXPECT_THAT(AttemptSizes("helion-pr2750/add.csv"), ElementsAre(54, 2, 2, 60, 2, 2));
  EXPECT_THAT(AttemptSizes("helion-pr2750/softmax.csv"), ElementsAre(86, 4, 4, 84, 4, 4));
}

}  // namespace
}  // namespace telemetry::worker::forward
