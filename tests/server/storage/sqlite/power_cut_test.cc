#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/storage/sql/statement.h"
#include "server/storage/sqlite/sqlite_database.h"
#include "tests/server/storage/dataset_story.h"
#include "tests/server/storage/sqlite/power_cut_vfs.h"

// Tests the durability of acknowledged records: the power of the writer's disk is cut at a random moment, and each
// unsynced sector survives at random. As a control, the driver must find losses on a disk that ignores fsync.

namespace telemetry::storage::sqlite {
namespace {

constexpr int kSeeds = 150;

// One power cut and its inspection. Run() returns a description of the error; empty: none.
class PowerCutStory {
 public:
  explicit PowerCutStory(uint64_t seed) : random_(seed), vfs_(absl::StrCat("power-cut-", seed)) {
    options_.vfs = vfs_.name();
    options_.checkpoint_pages = 1 + static_cast<int>(random_() % 40);
  }

  std::string Run(bool syncs = true) {
    // Power is cut at some write or fsync, at the latest when the writer closes and would checkpoint.
    WriteUntilTheCut(/*batches=*/3, /*cut_at_end=*/false);
    if (!syncs) vfs_.IgnoreSyncs();
    vfs_.CutAfter(1 + static_cast<int64_t>(random_() % 300));
    WriteUntilTheCut(/*batches=*/60, /*cut_at_end=*/true);
    vfs_.Restore(random_);
    return Inspect();
  }

 private:
  // Sends batches and records the acknowledged sequence number.
  void WriteUntilTheCut(int batches, bool cut_at_end) {
    absl::StatusOr<std::unique_ptr<StoreWriter>> writer = OpenSqliteWriter(path_, options_);
    if (!writer.ok()) return;
    absl::StatusOr<uint64_t> committed_seq = (*writer)->OpenProducer(producer_id_, 1, "test");
    if (!committed_seq.ok()) return;
    for (uint64_t seq = *committed_seq + 1; batches-- > 0;) {
      std::vector<v1::Record> records;
      for (uint64_t count = 1 + random_() % 20; count > 0; --count) records.push_back(RecordAt(seq + records.size()));
      ProducerBatch batch{.producer_id = producer_id_, .epoch = 1, .first_seq = seq};
      AddRecords(records, &batch);
      absl::StatusOr<std::vector<BatchOutcome>> outcomes = (*writer)->CommitBatches({batch});
      if (!outcomes.ok()) return;
      acked_ = outcomes->front().committed_seq;
      seq = acked_ + 1;
      if (random_() % 10 == 0 && !(*writer)->Idle().ok()) return;
    }
    if (cut_at_end) vfs_.CutAfter(0);
  }

  // Returns record `seq`: record 1 announces the attempt; the others are its rows, with contents derived from their
  // number.
  static v1::Record RecordAt(uint64_t seq) {
    return seq == 1 ? AttemptRecord('x', 'a') : Row('x', seq, static_cast<double>(seq) / 8, 1 + seq % 5);
  }

  std::string Inspect() {
    absl::StatusOr<std::unique_ptr<StoreWriter>> writer = OpenSqliteWriter(path_, options_);
    if (!writer.ok()) return absl::StrCat("does not open: ", writer.status().ToString());
    const uint64_t committed = (*writer)->OpenProducer(producer_id_, 1, "test").value_or(0);
    if (committed < acked_) return absl::StrCat("acknowledged ", acked_, ", but stored only ", committed);
    writer->reset();
    absl::StatusOr<SqliteDatabase> database = SqliteDatabase::Open(path_, {.vfs = vfs_.name()});
    if (!database.ok()) return database.status().ToString();
    sql::Statement integrity(*database, "PRAGMA integrity_check");
    if (!integrity.Step().ok() || integrity.Text(0) != "ok") return "integrity_check fails";
    sql::Statement rows(*database, "SELECT count(*) FROM measurements WHERE perf_ms = seq / 8.0 AND seq <= ?1");
    if (!rows.Bind(committed).Step().ok()) return "rows cannot be read";
    const auto stored = static_cast<uint64_t>(rows.Int(0));
    if (stored + 1 != committed) return absl::StrCat("committed ", committed, ", but has ", stored, " rows");
    return "";
  }

  std::mt19937_64 random_;
  PowerCutVfs vfs_;
  WriterOptions options_;
  TempFolder folder_;
  const std::string path_ = folder_.File("dataset.db");
  const std::string producer_id_ = std::string(16, 'p');
  uint64_t acked_ = 0;
};

TEST(PowerCut, WhatIsAcknowledgedSurvives) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    EXPECT_EQ(PowerCutStory(seed).Run(), "") << "seed " << seed;
  }
}

TEST(PowerCut, TheSameCutsLoseRowsOnADiskThatIgnoresSyncs) {
  int losses = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    losses += PowerCutStory(seed).Run(/*syncs=*/false).empty() ? 0 : 1;
  }
  EXPECT_GT(losses, kSeeds / 10) << "a driver that finds no loss here proves nothing";
}

TEST(PowerCut, AFailedSyncIsNeverAcknowledgedNorForgotten) {
  PowerCutVfs vfs("failing-syncs");
  DatasetStory story({.vfs = vfs.name()});
  ASSERT_TRUE(story.Send({RunRecord('a')}).status.ok());
  vfs.FailSyncs();
  const v1::Record record = RunRecord('b');
  const ProducerBatch batch{.producer_id = story.producer_id(), .epoch = 1, .first_seq = 2, .records = {{&record}}};
  EXPECT_TRUE(absl::IsUnavailable(story.writer().CommitBatches({batch}).status()));
  EXPECT_TRUE(absl::IsUnavailable(story.writer().CommitBatches({batch}).status())) << "the error stays";
  EXPECT_FALSE(story.writer().OpenProducer(story.producer_id(), 2, "test").ok());
  EXPECT_FALSE(story.writer().Idle().ok());
}

}  // namespace
}  // namespace telemetry::storage::sqlite
