// Tests backups and exports while rows are committed as fast as possible: each contains a prefix of the acknowledged
// rows, and at least all rows that were acknowledged when it began. The write-ahead log stays short.
//
// TELEMETRY_FAULTS: number of backups (default 4). In each of them a limited number of rows is committed. Otherwise the
// dataset would grow by a factor each time, because a larger dataset takes longer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/storage/upkeep/backup.h"
#include "server/storage/upkeep/check.h"
#include "tests/environment.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage::upkeep {
namespace {

using ::testing::IsEmpty;

constexpr uint64_t kMostLogBytes = uint64_t{64} << 20;
constexpr char kAttempts[] = "xyz";
constexpr uint64_t kRowsOfTransaction = 300;
constexpr uint64_t kRowsOfRound = 20 * kRowsOfTransaction;

int Backups() { return Faults(4); }

class BackupLoadTest : public testing::Test {
 protected:
  BackupLoadTest() {
    story_.Send({RunRecord('a'), AttemptRecord('x', 'a'), AttemptRecord('y', 'a'), AttemptRecord('z', 'a')});
    thread_ = std::thread([this] { Write(); });
  }
  ~BackupLoadTest() override {
    stopping_ = true;
    thread_.join();
    std::cout << acked_ << " rows of each attempt, at most " << most_log_bytes_ << " bytes of log" << std::endl;
    EXPECT_LT(most_log_bytes_, kMostLogBytes);
  }

  // Sends rows until the test ends. Each transaction adds the same number of rows to each attempt.
  void Write() {
    for (uint64_t seq = 1; !stopping_;) {
      std::vector<v1::Record> records;
      while (seq >= enough_ && !stopping_) std::this_thread::yield();
      const uint64_t end = seq + kRowsOfTransaction;
      for (; seq < end; ++seq) {
        for (const char attempt : {'x', 'y', 'z'}) {
          records.push_back(Row(attempt, seq, static_cast<double>(seq), 1 + seq % 1000));
          records.push_back(DetailRecord(attempt, seq));
        }
      }
      if (!story_.Send(records).status.ok()) return;
      acked_ = end - 1;
      std::error_code error;
      const uint64_t bytes = std::filesystem::file_size(story_.path() + "-wal", error);
      if (!error && bytes > most_log_bytes_) most_log_bytes_ = bytes;
    }
  }

  void AwaitMoreRows() {
    const uint64_t before = acked_;
    enough_ = before + kRowsOfRound;
    while (acked_ == before) std::this_thread::yield();
  }

  // Returns the number of rows of each attempt. Checks that the rows are a prefix, in order and without duplicates.
  static std::vector<uint64_t> FindRowBuffer(const std::string& path) {
    const auto reader = sqlite::OpenSqliteReader(path);
    EXPECT_TRUE(reader.ok()) << reader.status();
    std::vector<uint64_t> rows;
    v1::ExportRequest request;
    const absl::Status status = (*reader)->Export(request, [&](const v1::ExportItem& item) {
      if (item.has_attempt()) rows.push_back(0);
      for (const v1::Measurement& row : item.rows().measurements()) {
        EXPECT_EQ(row.seq(), ++rows.back());
        EXPECT_EQ(row.perf_ms(), static_cast<double>(row.seq()));
      }
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    return rows;
  }

  TempFolder folder_;
  DatasetStory story_;  // used by the writing thread only
  std::atomic<uint64_t> acked_ = 0;
  std::atomic<uint64_t> enough_ = kRowsOfRound;  // the writing thread pauses from this row on
  std::atomic<uint64_t> most_log_bytes_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

TEST_F(BackupLoadTest, EachBackupHoldsAPrefixOfWhatWasAcknowledged) {
  for (int i = 0; i < Backups(); ++i) {
    AwaitMoreRows();
    const std::string copy = folder_.File(absl::StrCat("copy-", i));
    const uint64_t before = acked_;
    const absl::Time begin = absl::Now();
    ASSERT_TRUE(BackUpDataset(story_.path(), copy).ok());
    const absl::Duration took = absl::Now() - begin;
    const uint64_t after = acked_ + kRowsOfTransaction;  // one more transaction may be stored and not yet acknowledged
    EXPECT_THAT(CheckDataset(copy)->damage, IsEmpty());
    const std::vector<uint64_t> rows = FindRowBuffer(copy);
    ASSERT_EQ(rows.size(), std::string(kAttempts).size());
    EXPECT_GE(rows[0], before);
    EXPECT_LE(rows[0], after);
    EXPECT_EQ(rows[0] % kRowsOfTransaction, 0) << "each transaction is complete";
    EXPECT_EQ(rows, std::vector<uint64_t>(3, rows[0])) << "all attempts are in the same state";
    if (i + 1 == Backups()) {
      std::cout << "the last of " << Backups() << " backups: " << std::filesystem::file_size(copy) << " bytes in "
                << absl::FormatDuration(took) << std::endl;
    }
    std::filesystem::remove(copy);
  }
}

// An export reads each page in its own transaction, so the rows of each attempt are a prefix that contains at least the
// rows acknowledged before.
TEST_F(BackupLoadTest, ExportsHoldAPrefixOfEachAttempt) {
  for (int i = 0; i < Backups(); ++i) {
    AwaitMoreRows();
    const uint64_t before = acked_;
    for (const uint64_t rows : FindRowBuffer(story_.path())) EXPECT_GE(rows, before);
  }
}

TEST_F(BackupLoadTest, AServedDatasetChecksSound) {
  for (int i = 0; i < Backups(); ++i) {
    AwaitMoreRows();
    EXPECT_THAT(CheckDataset(story_.path())->damage, IsEmpty());
  }
}

}  // namespace
}  // namespace telemetry::storage::upkeep
