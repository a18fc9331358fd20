#include "worker/tune/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "worker/codegen/config.h"
#include "worker/tune/recording/statuses.h"

namespace telemetry::worker::tune {
namespace {

namespace fs = std::filesystem;
namespace status = recording::status;
using recording::AttemptRow;
using testing::HasSubstr;

constexpr char kAttempt[] = "sixteen bytes...";

AttemptRow MakeRow(int64_t generation, int warps) {
  AttemptRow row = {.timestamp_s = 0.5,
                    .generation = generation,
                    .config = *codegen::Config::Parse("Config(num_warps=" + std::to_string(warps) + ")"),
                    .status = status::kOk,
                    .perf_ms = 0.1 * warps,
                    .compile_time_s = 0.25,
                    .source_hash = "0123456789abcdef"};
  row.failure.emplace().set_phase("run");
  row.detail.emplace().add_samples_ms(0.125);
  return row;
}

class JournalTest : public testing::Test {
 protected:
  JournalTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~JournalTest() override { fs::remove_all(folder_); }

  std::unique_ptr<Journal> Open() {
    absl::StatusOr<std::unique_ptr<Journal>> journal = Journal::Open(path_);
    EXPECT_TRUE(journal.ok()) << journal.status();
    return *std::move(journal);
  }
  // Writes a journal with a Begin entry and two Append entries, and closes it.
  void WriteTwoEntries() {
    auto journal = Open();
    ASSERT_TRUE(journal->Begin(kAttempt, absl::FromUnixMicros(1234567)).ok());
    ASSERT_TRUE(journal->Append({MakeRow(0, 1)}, 1.5).ok());
    ASSERT_TRUE(journal->Append({MakeRow(1, 2), MakeRow(1, 4)}, 2.5).ok());
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) /
      ("journal-" + std::to_string(getpid()) + "-" + testing::UnitTest::GetInstance()->current_test_info()->name());
  const std::string path_ = (folder_ / "attempts" / "a.journal").string();
};

TEST_F(JournalTest, KeepsHowMuchTheSearchHadLearnt) {
  {
    auto journal = Open();
    ASSERT_TRUE(journal->Begin(kAttempt, absl::FromUnixMicros(1)).ok());
    ASSERT_TRUE(journal->Append({MakeRow(0, 1)}, 1, {0}).ok());
    ASSERT_TRUE(journal->Append({MakeRow(0, 2)}, 2).ok());
    ASSERT_TRUE(journal->Append({MakeRow(1, 4)}, 3, {1, 2}).ok());
  }
  EXPECT_THAT(Open()->TakeContents().learnt, testing::ElementsAre(0, 1, 2));
}

TEST_F(JournalTest, KeepsAnAttempt) {
  WriteTwoEntries();
  const Journal::Contents contents = Open()->TakeContents();
  EXPECT_EQ(contents.attempt_id, kAttempt);
  EXPECT_EQ(absl::ToUnixMicros(contents.started), 1234567);
  EXPECT_EQ(contents.active_s, 2.5);
  ASSERT_EQ(contents.rows.size(), 3u);
  const AttemptRow& row = contents.rows[2];
  EXPECT_EQ(row.generation, 1);
  EXPECT_EQ(row.config.ToString(), "Config(num_warps=4)");
  EXPECT_EQ(row.status, "ok");
  EXPECT_EQ(row.perf_ms, 0.4);
  EXPECT_EQ(row.compile_time_s, 0.25);
  EXPECT_EQ(row.source_hash, "0123456789abcdef");
  EXPECT_EQ(row.failure->phase(), "run");
  EXPECT_EQ(row.detail->samples_ms(0), 0.125);
}

TEST_F(JournalTest, KeepsWhatTheSearchBeganWith) {
  const auto config = *codegen::Config::Parse("Config(block_sizes=[32, 64], num_warps=4)");
  const search::RelatedRun related = {.trials = {{config, 0.1}, {config, {}}}, .noise = 0.25};
  ASSERT_TRUE(Open()->Begin(kAttempt, absl::FromUnixMicros(1), {config}, {related}, {{config, 0.2}}).ok());
  const auto journal = Open();
  EXPECT_TRUE(journal->has_begun());
  const Journal::Contents contents = journal->TakeContents();
  EXPECT_EQ(contents.starting_points, std::vector{config});
  ASSERT_EQ(contents.earlier.size(), 1u);
  EXPECT_EQ(contents.earlier[0].config, config);
  EXPECT_EQ(contents.earlier[0].perf_ms, 0.2);
  ASSERT_EQ(contents.related.size(), 1u);
  EXPECT_EQ(contents.related[0].noise, 0.25);
  ASSERT_EQ(contents.related[0].trials.size(), 2u);
  EXPECT_EQ(contents.related[0].trials[0].config, config);
  EXPECT_EQ(contents.related[0].trials[0].perf_ms, 0.1);
  EXPECT_EQ(contents.related[0].trials[1].perf_ms, std::nullopt);
}

// Simulates a process that was killed after it recorded the end of the attempt and before it removed the journal.
TEST_F(JournalTest, AnAttemptEndsWithTheCountersItFirstEndedWith) {
  WriteTwoEntries();
  EXPECT_EQ(*Open()->End(R"({"seconds_total": 3})", 3), R"({"seconds_total": 3})");
  auto journal = Open();
  EXPECT_EQ(*journal->End(R"({"seconds_total": 4})", 4), R"({"seconds_total": 3})");
  EXPECT_EQ(*journal->End(R"({"seconds_total": 5})", 5), R"({"seconds_total": 3})");
  EXPECT_EQ(journal->TakeContents().active_s, 3);
}

TEST_F(JournalTest, ANewOneIsEmpty) { EXPECT_EQ(Open()->TakeContents().attempt_id, ""); }

// Truncates the file at every length and checks that complete entries remain and a torn entry is discarded.
TEST_F(JournalTest, ATornEntryIsForgotten) {
  WriteTwoEntries();
  const auto size = fs::file_size(path_);
  size_t rows_before = 3;
  for (auto length = size; length-- > 0;) {
    fs::resize_file(path_, length);
    auto journal = Open();
    const Journal::Contents contents = journal->TakeContents();
    EXPECT_LE(contents.rows.size(), rows_before) << length;
    EXPECT_NE(contents.rows.size(), 2u) << "half of an entry at " << length;
    rows_before = contents.rows.size();
    length = fs::file_size(path_);  // Open() truncated the torn entry
    if (length <= 32) break;
  }
  EXPECT_EQ(rows_before, 0u);
}

TEST_F(JournalTest, GoesOnBehindATornEntry) {
  WriteTwoEntries();
  fs::resize_file(path_, fs::file_size(path_) - 1);
  ASSERT_TRUE(Open()->Append({MakeRow(7, 8)}, 3).ok());
  const Journal::Contents contents = Open()->TakeContents();
  ASSERT_EQ(contents.rows.size(), 2u);
  EXPECT_EQ(contents.rows[1].generation, 7);
}

TEST_F(JournalTest, KeepsAnotherProcessOut) {
  const auto journal = Open();
  const absl::StatusOr<std::unique_ptr<Journal>> second = Journal::Open(path_);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("--state-dir"));
}

TEST_F(JournalTest, RefusesAnotherFile) {
  fs::create_directories(fs::path(path_).parent_path());
  std::ofstream(path_) << "this is not a journal, but a file that somebody put here";
  const absl::StatusOr<std::unique_ptr<Journal>> journal = Journal::Open(path_);
  EXPECT_EQ(journal.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(journal.status().message()), HasSubstr("remove the file"));
}

TEST_F(JournalTest, IsGoneAfterTheAttempt) {
  auto journal = Open();
  ASSERT_TRUE(journal->Remove().ok());
  EXPECT_FALSE(fs::exists(path_));
}

}  // namespace
}  // namespace telemetry::worker::tune
