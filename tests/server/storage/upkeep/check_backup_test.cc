#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "server/storage/sqlite/sqlite_database.h"
#include "server/storage/upkeep/backup.h"
#include "server/storage/upkeep/check.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage::upkeep {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class CheckBackupTest : public ::testing::Test {
 protected:
  CheckBackupTest() { story_.Send({RunRecord('a'), AttemptRecord('x', 'a'), Row('x', 1, 1), Row('x', 2, 1)}); }

  DatasetStory story_;
  TempFolder folder_;
};

TEST_F(CheckBackupTest, ASoundDatasetIsCounted) {
  const CheckReport report = *CheckDataset(story_.path());
  EXPECT_THAT(report.damage, IsEmpty());
  EXPECT_THAT(report.counts, Contains(Pair("measurements", 2)));
  EXPECT_TRUE(ReportStatus(report).ok());
}

TEST_F(CheckBackupTest, OrphansAreDamage) {
  ASSERT_TRUE(sqlite::SqliteDatabase::Open(story_.path(), {})->Execute("DELETE FROM attempts").ok());
  const CheckReport report = *CheckDataset(story_.path());
  EXPECT_THAT(report.damage, Contains(HasSubstr("2 rows of measurements reference a row of attempts")));
  EXPECT_TRUE(absl::IsDataLoss(ReportStatus(report)));
}

TEST_F(CheckBackupTest, AFileThatIsNoDatabaseComesWithTheRemedy) {
  std::ofstream(folder_.File("damaged.db")) << std::string(8192, 'x');
  const absl::Status status = CheckDataset(folder_.File("damaged.db")).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("restore a backup"));
}

TEST_F(CheckBackupTest, ABackupIsTakenWhileTheWriterGoesOn) {
  const std::string copy = folder_.File("copy.db");
  ASSERT_TRUE(BackUpDataset(story_.path(), copy).ok());
  story_.Send({Row('x', 3, 1)});
  EXPECT_THAT(CheckDataset(copy)->counts, Contains(Pair("measurements", 2)));
  EXPECT_THAT(CheckDataset(copy)->damage, IsEmpty());
  EXPECT_TRUE(sqlite::OpenSqliteWriter(copy).ok()) << "a backup can be served";
}

// If its cache is full, SQLite writes other pages of the copy before the first page.
TEST_F(CheckBackupTest, ABackupLargerThanTheCacheIsSound) {
  for (const char run : std::string("0123456789bc")) {
    v1::Record record = RunRecord(run);
    record.mutable_run()->set_kernel_source(std::string(300'000, run));
    ASSERT_THAT(story_.Send({record}).refused, IsEmpty());
  }
  const std::string copy = folder_.File("copy.db");
  ASSERT_TRUE(BackUpDataset(story_.path(), copy).ok());
  ASSERT_GT(std::filesystem::file_size(copy), 2'200'000u);
  EXPECT_THAT(CheckDataset(copy)->damage, IsEmpty());
}

// SQLite never writes the page at this offset, which is 1 GiB outside of tests.
TEST(CheckBackupLockByteTest, ThePageOfTheLockBytesIsNotChecked) {
  constexpr unsigned kLockByte = 256 << 10;
  const int usual = sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE, kLockByte);
  {
    DatasetStory story;
    const TempFolder folder;
    for (const char run : std::string("0123456789")) {
      v1::Record record = RunRecord(run);
      record.mutable_run()->set_kernel_source(std::string(100'000, run));
      ASSERT_THAT(story.Send({record}).refused, IsEmpty());
    }
    ASSERT_TRUE(story.writer().Idle().ok());  // copies the log into the database
    ASSERT_GT(std::filesystem::file_size(story.path()), kLockByte + 8192);
    EXPECT_THAT(CheckDataset(story.path())->damage, IsEmpty());
    const std::string copy = folder.File("copy.db");
    ASSERT_TRUE(BackUpDataset(story.path(), copy).ok());
    EXPECT_THAT(CheckDataset(copy)->damage, IsEmpty());
  }
  sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE, usual);
}

TEST_F(CheckBackupTest, ABackupNeverReplacesAFile) {
  const std::string copy = folder_.File("copy.db");
  ASSERT_TRUE(BackUpDataset(story_.path(), copy).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(BackUpDataset(story_.path(), copy)));
}

TEST_F(CheckBackupTest, ABackupOfNothingLeavesNothing) {
  EXPECT_TRUE(absl::IsNotFound(BackUpDataset(folder_.File("none.db"), folder_.File("copy.db"))));
  EXPECT_FALSE(std::filesystem::exists(folder_.File("copy.db")));
}

}  // namespace
}  // namespace telemetry::storage::upkeep
