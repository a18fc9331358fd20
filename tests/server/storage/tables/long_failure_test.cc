// Tests the table of the failures that are too long for their rows. Only SQLite has this table.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "server/storage/readers/deletion.h"
#include "server/storage/sql/failure_json.h"
#include "server/storage/sql/long_failures.h"
#include "server/storage/sqlite/sqlite_database.h"
#include "server/storage/upkeep/check.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage::tables {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kMost = sql::LongFailures::kMostBytesInRow;

// Returns a row whose failure is stored with `bytes` bytes.
v1::Record FailedRow(char attempt, uint64_t seq, size_t bytes) {
  v1::Record record = Row(attempt, seq, 0.5);
  v1::Failure& failure = *record.mutable_measurement()->mutable_failure();
  failure.set_message("x");
  failure.set_message(std::string(bytes - sql::FailureToJson(failure).size() + 1, 'x'));
  return record;
}

v1::Record Provisional(char attempt) {
  v1::Record record = AttemptRecord(attempt, 'a');
  record.mutable_attempt()->set_provisional(true);
  return record;
}

class LongFailureTest : public ::testing::Test {
 protected:
  LongFailureTest() {
    story_.Send({RunRecord('a'), Provisional('x'), FailedRow('x', 1, kMost), FailedRow('x', 2, kMost + 1),
                 FailedRow('x', 3, size_t{1} << 20)});
  }

  void Change(const char* sql) const {
    EXPECT_TRUE(sqlite::SqliteDatabase::Open(story_.path(), {})->Execute(sql).ok());
  }
  std::vector<std::string> Damage() const { return CheckDamage(story_.path()); }
  std::string LongOnes() const { return story_.Query("SELECT group_concat(seq) FROM long_failures"); }

  static std::vector<std::string> CheckDamage(const std::string& path) { return upkeep::CheckDataset(path)->damage; }

  DatasetStory story_;
};

TEST_F(LongFailureTest, AreNotInTheRow) {
  EXPECT_EQ(LongOnes(), "2,3");
  EXPECT_EQ(story_.Query("SELECT group_concat(length(failure)) FROM measurements"), "512,0,0");
  EXPECT_EQ(story_.Query("SELECT group_concat(length(failure)) FROM whole_measurements"), "512,513,1048576");
  EXPECT_EQ(story_.Query("SELECT group_concat(length(failure)) FROM measurement_rows"), "512,513,1048576");
  EXPECT_THAT(Damage(), IsEmpty());
}

TEST_F(LongFailureTest, GoWithTheirAttempt) {
  const std::unique_ptr<StoreReader> reader = story_.OpenReader();
  v1::DeleteRequest request;
  request.add_attempt_ids(AttemptId('x'));
  absl::StatusOr<readers::Deletion> deletion = reader->BeginDeletion(request);
  ASSERT_TRUE(deletion.ok()) << deletion.status();
  const absl::StatusOr<Removal> removal = reader->Next(*deletion);
  ASSERT_TRUE(removal.ok()) << removal.status();
  ASSERT_TRUE(story_.writer().RemoveAttempts(*removal).ok());
  EXPECT_EQ(story_.Query("SELECT count(*) FROM measurements"), "0");
  EXPECT_EQ(story_.Query("SELECT count(*) FROM long_failures"), "0");
}

TEST_F(LongFailureTest, GoWithAnAttemptThatIsSuperseded) {
  v1::Record longer = Provisional('y');
  longer.mutable_attempt()->add_supersedes(AttemptId('x'));
  story_.Send({longer, FailedRow('y', 7, kMost + 1)});
  EXPECT_EQ(LongOnes(), "7");
}

TEST_F(LongFailureTest, AMissingOneIsDamage) {
  Change("DELETE FROM long_failures WHERE seq = 3");
  EXPECT_THAT(Damage(), ElementsAre("1 rows of measurements have no failure in long_failures"));
}

TEST_F(LongFailureTest, OneThatAnotherProgramLeftIsReplaced) {
  Change("DELETE FROM measurements WHERE seq = 3");
  EXPECT_THAT(story_.Send({FailedRow('x', 3, kMost + 2)}).refused, IsEmpty());
  EXPECT_EQ(story_.Query("SELECT length(failure) FROM whole_measurements WHERE seq = 3"), "514");
}

}  // namespace
}  // namespace telemetry::storage::tables
