#include "server/storage/upkeep/restore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "server/storage/upkeep/backup.h"
#include "server/storage/upkeep/check.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage::upkeep {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);
constexpr char kKept[] = ".replaced-20270115T080000Z";

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A backup with two rows, and a dataset that has a third one.
class RestoreTest : public ::testing::Test {
 protected:
  RestoreTest() {
    story_->Send({RunRecord('a'), AttemptRecord('x', 'a'), Row('x', 1, 1), Row('x', 2, 1)});
    EXPECT_TRUE(BackUpDataset(story_->path(), backup_).ok());
    at_backup_ = story_->Export();
    story_->Send({Row('x', 3, 1)});
  }
  // Returns the dataset of a killed collector: its last writes are only in the log.
  std::string Killed() {
    const std::string path = folder_.File("dataset.db");
    for (const char* suffix : {"", "-wal", ".acked"})
      std::filesystem::copy_file(story_->path() + suffix, path + suffix);
    return path;
  }
  static std::string ExportFile(const std::string& path) {
    v1::ExportRequest request;
    request.set_details(true);
    std::string text;
    const auto reader = sqlite::OpenSqliteReader(path);
    if (!reader.ok()) return reader.status().ToString();
    EXPECT_TRUE((*reader)
                    ->Export(request,
                             [&text](v1::ExportItem item) {
                               if (item.has_attempt()) item.mutable_attempt()->clear_first_received_unix_us();
                               text += item.DebugString() + "\n";
                               return absl::OkStatus();
                             })
                    .ok());
    return text;
  }

  TempFolder folder_;
  std::unique_ptr<DatasetStory> story_ = std::make_unique<DatasetStory>();
  const std::string backup_ = folder_.File("backup.db");
  std::string at_backup_;
};

TEST_F(RestoreTest, TheBackupIsServedAndTheOldFilesAreKept) {
  const std::string path = Killed();
  const std::string old_log = Contents(path + "-wal");
  const absl::StatusOr<RestoreReport> report = RestoreDataset(backup_, path, kNow);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->kept, path + kKept);
  EXPECT_EQ(report->records, 4);
  EXPECT_EQ(report->missing_records, 1);
  EXPECT_EQ(ExportFile(path), at_backup_);
  EXPECT_TRUE(sqlite::OpenSqliteWriter(path).ok());
  EXPECT_THAT(CheckDataset(path)->damage, IsEmpty());
  EXPECT_EQ(Contents(path + kKept + "-wal"), old_log);
  EXPECT_THAT(ExportFile(path + kKept), HasSubstr("seq: 3")) << "the replaced dataset can still be read";
}

TEST_F(RestoreTest, ADamagedDatasetIsReplaced) {
  const std::string path = Killed();
  std::filesystem::resize_file(path + "-wal", 5000);
  ASSERT_TRUE(absl::IsDataLoss(sqlite::OpenSqliteWriter(path).status()));
  ASSERT_TRUE(RestoreDataset(backup_, path, kNow).ok());
  EXPECT_EQ(ExportFile(path), at_backup_);
  EXPECT_TRUE(sqlite::OpenSqliteWriter(path).ok());
}

// Follows the runbook: backs up the readable part of a damaged dataset and restores that backup.
TEST_F(RestoreTest, OneCanGoOnWithWhatIsLeft) {
  const std::string path = Killed();
  std::filesystem::resize_file(path + "-wal", std::filesystem::file_size(path + "-wal") - 1);
  ASSERT_TRUE(absl::IsDataLoss(sqlite::OpenSqliteReader(path).status()));
  ASSERT_TRUE(BackUpDataset(path, folder_.File("left.db")).ok());
  const absl::StatusOr<RestoreReport> report = RestoreDataset(folder_.File("left.db"), path, kNow);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->missing_records, 1);
  EXPECT_TRUE(sqlite::OpenSqliteWriter(path).ok());
}

TEST_F(RestoreTest, NothingIsTouchedForADamagedBackup) {
  const std::string path = Killed();
  std::fstream(backup_, std::ios::in | std::ios::out | std::ios::binary).seekp(9000).put('x');
  EXPECT_TRUE(absl::IsDataLoss(RestoreDataset(backup_, path, kNow).status()));
  EXPECT_FALSE(std::filesystem::exists(path + kKept));
  EXPECT_THAT(ExportFile(path), HasSubstr("seq: 3"));
}

TEST_F(RestoreTest, NotUnderACollector) {
  EXPECT_TRUE(absl::IsAlreadyExists(RestoreDataset(backup_, story_->path(), kNow).status()));
}

TEST_F(RestoreTest, ToAPlaceWhereNothingIs) {
  const absl::StatusOr<RestoreReport> report = RestoreDataset(backup_, folder_.File("new.db"), kNow);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->kept, "");
  EXPECT_EQ(ExportFile(folder_.File("new.db")), at_backup_);
}

// Simulates a restore, or an operator, that stops halfway.
TEST_F(RestoreTest, WhereTheDatabaseIsGoneNoCollectorBeginsAnew) {
  const std::string path = Killed();
  std::filesystem::remove(path);
  std::filesystem::remove(path + "-wal");
  EXPECT_TRUE(absl::IsDataLoss(sqlite::OpenSqliteWriter(path).status()));
  ASSERT_TRUE(RestoreDataset(backup_, path, kNow).ok());
  EXPECT_TRUE(sqlite::OpenSqliteWriter(path).ok());
}

}  // namespace
}  // namespace telemetry::storage::upkeep
