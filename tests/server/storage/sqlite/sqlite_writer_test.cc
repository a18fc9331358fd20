#include "server/storage/sqlite/sqlite_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "server/storage/sqlite/sqlite_database.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage::sqlite {
namespace {

using ::testing::HasSubstr;

TEST(SqliteReader, AFileThatIsNotThereIsNotFound) {
  DatasetStory story;
  EXPECT_TRUE(absl::IsNotFound(OpenSqliteReader(story.path() + ".other").status()));
}

TEST(SqliteWriter, SamplesCanBeQueried) {
  DatasetStory story;
  story.Send({AttemptRecord('x', 'a'), DetailRecord('x', 1)});
  EXPECT_EQ(
      story.Query("SELECT max(s.value) - 123456789 > 0.12 FROM measurement_details, json_each(samples_ms_json) AS s"),
      "1");
}

TEST(SqliteWriter, ASecondCollectorIsKeptOutAndToldByWhom) {
  DatasetStory story;
  const absl::Status second = OpenSqliteWriter(story.path()).status();
  EXPECT_TRUE(absl::IsAlreadyExists(second));
  EXPECT_THAT(std::string(second.message()), HasSubstr("pid " + std::to_string(getpid())));
}

TEST(SqliteWriter, TheLogIsEmptiedWhenIdle) {
  DatasetStory story;
  story.Send({RunRecord('a')});
  EXPECT_GT(std::filesystem::file_size(story.path() + "-wal"), 0u);
  EXPECT_TRUE(story.writer().Idle().ok());
  EXPECT_EQ(std::filesystem::file_size(story.path() + "-wal"), 0u);
}

TEST(SqliteWriter, TheLogStaysBoundedWhileRowsCome) {
  DatasetStory story({.checkpoint_pages = 16});
  story.Restart();  // removes the log of the schema's creation
  story.Send({AttemptRecord('x', 'a')});
  for (uint64_t seq = 1; seq <= 400; ++seq) story.Send({Row('x', seq, 1)});
  EXPECT_LT(std::filesystem::file_size(story.path() + "-wal"), 64u * 4200);
}

// Returns the write system calls that this process has made.
uint64_t WriteCalls() {
  std::ifstream io("/proc/self/io");
  std::string name;
  uint64_t value = 0;
  while (io >> name >> value) {
    if (name == "syscw:") return value;
  }
  ADD_FAILURE() << "/proc/self/io does not count system calls";
  return 0;
}

TEST(SqliteWriter, ATransactionIsWrittenInLongPieces) {
  constexpr uint64_t kPageBytes = 4096;
  DatasetStory story;
  story.Send({AttemptRecord('x', 'a')});
  std::vector<v1::Record> rows;
  for (uint64_t seq = 1; seq <= 5000; ++seq) rows.push_back(Row('x', seq, 1));
  const uint64_t log_before = std::filesystem::file_size(story.path() + "-wal");
  const uint64_t calls_before = WriteCalls();
  story.Send(rows);
  const uint64_t calls = WriteCalls() - calls_before;
  const uint64_t pages = (std::filesystem::file_size(story.path() + "-wal") - log_before) / kPageBytes;
  EXPECT_GT(pages, 30u);
  EXPECT_LT(calls, pages / 4) << "for " << pages << " pages";
}

// Returns the bytes of the write-ahead log after 1000 commits of about 5 MiB.
uint64_t LogBytesAfterCommits(bool urgent) {
  DatasetStory story;
  story.Restart();
  story.writer().SetUrgent(urgent);
  story.Send({AttemptRecord('x', 'a')});
  for (uint64_t seq = 1; seq <= 1000; ++seq) story.Send({Row('x', seq, 1)});
  return std::filesystem::file_size(story.path() + "-wal");
}

TEST(SqliteWriter, CheckpointsAreSmallWhileTheWorkIsUrgent) {
  EXPECT_LT(LogBytesAfterCommits(/*urgent=*/true), uint64_t{2} << 20);
  EXPECT_GT(LogBytesAfterCommits(/*urgent=*/false), uint64_t{4} << 20);
}

// Each reader's transaction lasts a few commits, and nearly always one is open, like queries to a busy collector.
TEST(SqliteWriter, TheLogStaysBoundedBesideReadersThatComeAndGo) {
  constexpr int kStep = 64;
  DatasetStory story(
      {.busy_timeout = absl::Milliseconds(1), .checkpoint_pages = kStep, .reader_patience = absl::ZeroDuration()});
  story.Send({AttemptRecord('x', 'a')});
  std::minstd_rand random(1);
  std::optional<SqliteDatabase> reader;
  uint64_t most_pages = 0;
  for (uint64_t seq = 1; seq <= 1000; ++seq) {
    reader.reset();
    if (random() % 4 != 0) {
      reader = *SqliteDatabase::Open(story.path(), {.read_only = true});
      ASSERT_TRUE(reader->Execute("BEGIN; SELECT count(*) FROM attempts").ok());
    }
    story.Send({Row('x', seq, 1)});
    most_pages = std::max<uint64_t>(most_pages, std::filesystem::file_size(story.path() + "-wal") / 4120);
  }
  EXPECT_LT(most_pages, 4u * kStep);
}

}  // namespace
}  // namespace telemetry::storage::sqlite
