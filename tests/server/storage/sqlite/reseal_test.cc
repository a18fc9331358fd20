// Tests a dataset's file that other programs recover, read, maintain and change while no collector serves it. The
// dataset remains usable, all of its pages are sealed again, and damage is still found.
//
// TELEMETRY_FAULTS: number of places per sweep (default 40); TELEMETRY_SEED: seed of the places.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/storage/sqlite/dataset_file.h"
#include "server/storage/sqlite/page_checksum.h"
#include "server/storage/upkeep/backup.h"
#include "server/storage/upkeep/check.h"
#include "server/storage/upkeep/inspect.h"
#include "server/storage/upkeep/restore.h"
#include "tests/environment.h"
#include "tests/server/storage/dataset_story.h"
#include "tests/server/storage/sqlite/dataset_files.h"

namespace telemetry::storage::sqlite {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr size_t kPageBytes = 4096;
constexpr char kCount[] = "SELECT count(*) FROM measurements";
constexpr char kSameSizeUpdate[] = "UPDATE measurements SET perf_ms = perf_ms + 1 WHERE seq = 17";

void Fill(DatasetStory& story) {
  story.Send({RunRecord('a'), GraphRecord('a'), AttemptRecord('x', 'a')});
  for (uint64_t seq = 1; seq <= 60; ++seq) {
    const std::string text = absl::StrCat("Config(block=", seq, ", ", std::string(200, 'c'), ")");
    story.Send({ConfigRecord(seq, text), Row('x', seq, 0.5 + static_cast<double>(seq), seq), DetailRecord('x', seq)});
  }
}

Files MakeKilled(int checkpoint_pages) {
  DatasetStory story({.checkpoint_pages = checkpoint_pages});
  Fill(story);
  return ReadFiles(story.path());
}

// Returns the files of a killed collector that had checkpointed a part of its log.
const Files& Killed() {
  static const auto& files = *new Files(MakeKilled(100));
  return files;
}

// Returns the files of a killed collector that had checkpointed nothing: the log contains the first page, too.
const Files& KilledEarly() {
  static const auto& files = *new Files(MakeKilled(100000));
  return files;
}

// Returns the files of a collector that shut down in order.
const Files& ClosedFiles() {
  static const auto& files = *new Files([] {
    const MemoryFolder folder;
    WriteFiles(Killed(), folder.database());
    EXPECT_TRUE(OpenSqliteWriter(folder.database()).ok());
    return ReadFiles(folder.database());
  }());
  return files;
}

// Opens the file with SQLite's defaults, runs SQL and closes the file, as the sqlite3 shell and Python's sqlite3 do.
void RunElsewhere(const std::string& path, const std::string& sql) {
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &other), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(other, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(other);
  EXPECT_EQ(sqlite3_close(other), SQLITE_OK);
}

std::string ExportAll(const std::string& path) {
  const absl::StatusOr<std::unique_ptr<StoreReader>> reader = OpenSqliteReader(path);
  return reader.ok() ? ExportText(**reader) : reader.status().ToString();
}

void ExpectUsable(const std::string& path, const std::string& exported) {
  EXPECT_TRUE(upkeep::InspectDataset(path).ok()) << upkeep::InspectDataset(path).status();
  const absl::StatusOr<upkeep::CheckReport> report = upkeep::CheckDataset(path);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->damage, IsEmpty());
  EXPECT_EQ(ExportAll(path), exported);
  const MemoryFolder elsewhere;
  const absl::Status backed_up = upkeep::BackUpDataset(path, elsewhere.database());
  EXPECT_TRUE(backed_up.ok()) << backed_up;
  EXPECT_EQ(ExportAll(elsewhere.database()), exported);
  const absl::StatusOr<upkeep::RestoreReport> restored =
      upkeep::RestoreDataset(path, elsewhere.database() + ".restored", absl::UnixEpoch());
  EXPECT_TRUE(restored.ok()) << restored.status();
}

void ExpectSealed(const std::string& path) {
  const absl::StatusOr<upkeep::CheckReport> report = upkeep::CheckDataset(path);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->damage, IsEmpty());
  EXPECT_THAT(report->notes, IsEmpty()) << "all pages are sealed";
}

// Opens and closes the dataset, as `serve` and `migrate` do.
absl::Status Serve(const std::string& path, ResealReport* report = nullptr) {
  return OpenSqliteWriter(path, {.on_reseal =
                                     [report](const ResealReport& done) {
                                       if (report != nullptr) *report = done;
                                     }})
      .status();
}

struct Elsewhere {
  std::string name;
  const Files& (*files)();
  std::vector<std::string> sessions;  // SQL, each run in its own connection
};

std::vector<Elsewhere> AllElsewhere() {
  return {
      {"SelectAfterAKill", &Killed, {kCount}},
      {"SelectAfterAnEarlyKill", &KilledEarly, {kCount}},
      {"IndexAfterAnEarlyKill", &KilledEarly, {kCount, "CREATE INDEX theirs ON measurements (perf_ms)"}},
      {"TwoSelectsAfterAKill", &Killed, {kCount, kCount}},
      {"CheckpointAfterAKill", &Killed, {"PRAGMA wal_checkpoint"}},
      {"TruncatingCheckpointAfterAKill", &Killed, {"PRAGMA wal_checkpoint(TRUNCATE)"}},
      {"RollbackJournalAfterAKill", &Killed, {"PRAGMA journal_mode = DELETE"}},
      {"VacuumAfterAKill", &Killed, {"VACUUM"}},
      {"IndexAfterAKill", &Killed, {"CREATE INDEX theirs ON measurements (perf_ms)"}},
      {"AnalyzeAfterAKill", &Killed, {kCount, "ANALYZE"}},
      {"Select", &ClosedFiles, {kCount}},
      {"Checkpoint", &ClosedFiles, {"PRAGMA wal_checkpoint"}},
      {"Vacuum", &ClosedFiles, {"VACUUM"}},
      {"Index", &ClosedFiles, {"CREATE INDEX theirs ON measurements (perf_ms)"}},
      {"Analyze", &ClosedFiles, {"ANALYZE"}},
      {"Reindex", &ClosedFiles, {"REINDEX"}},
      {"RollbackJournal", &ClosedFiles, {"PRAGMA journal_mode = DELETE", "VACUUM"}},
      {"LargerPages", &ClosedFiles, {"PRAGMA journal_mode = DELETE; PRAGMA page_size = 8192; VACUUM"}},
      {"TheirOwnTable", &ClosedFiles, {"CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('ours')"}},
      // A write transaction that does not change the page count.
      {"UpdateInPlace", &ClosedFiles, {"UPDATE measurements SET perf_ms = perf_ms WHERE seq < 30", kCount}},
  };
}

class ElsewhereTest : public testing::TestWithParam<Elsewhere> {};

TEST_P(ElsewhereTest, TheDatasetCanBeUsedAndIsSealedAgain) {
  const MemoryFolder folder;
  const std::string& path = folder.database();
  WriteFiles(GetParam().files(), path);
  const std::string exported = ExportAll(path);
  for (const std::string& sql : GetParam().sessions) RunElsewhere(path, sql);
  const std::string before = ReadFiles(path).at("");
  ExpectUsable(path, exported);
  EXPECT_TRUE(ReadFiles(path).at("") == before) << "reading changes nothing";
  ASSERT_TRUE(Serve(path).ok()) << Serve(path);
  ExpectSealed(path);
  EXPECT_EQ(ExportAll(path), exported);
  // The next open finds nothing to seal.
  ResealReport again;
  ASSERT_TRUE(Serve(path, &again).ok());
  EXPECT_EQ(again.logged + again.foreign, 0u);
  EXPECT_FALSE(*AddPageChecksums(path)) << "migrate: the pages already have checksums";
}

INSTANTIATE_TEST_SUITE_P(Programs, ElsewhereTest, testing::ValuesIn(AllElsewhere()),
                         [](const testing::TestParamInfo<Elsewhere>& info) { return info.param.name; });

class ResealTest : public testing::Test {
 protected:
  explicit ResealTest() : path_(folder_.database()) {}

  void Begin(const Files& files) { WriteFiles(files, path_); }

  // Flips a bit of page `number`.
  void FlipIn(size_t number, size_t at, int bit = 0) {
    Files files = ReadFiles(path_);
    char& byte = files[""][(number - 1) * kPageBytes + at];
    byte = static_cast<char>(byte ^ (1 << bit));
    WriteFiles(files, path_);
  }

  // Checks that a check and a collector find each of many flipped bits in the pages that `concerns` selects.
  void SweepFlips(const std::function<bool(size_t page)>& concerns) {
    const Files sound = ReadFiles(path_);
    std::mt19937_64 random(TestSeed());
    for (int place = 0; place < Faults(40);) {
      Files damaged = sound;
      std::string& bytes = damaged[""];
      const size_t at = random() % bytes.size();
      // If another program moved a page from the log, the page's trailer belongs to its previous content.
      const bool in_trailer = at % kPageBytes >= kPageBytes - kPageTrailerBytes;
      if (in_trailer || !concerns(at / kPageBytes + 1)) continue;
      ++place;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << (random() % 8)));
      const MemoryFolder folder;
      WriteFiles(damaged, folder.database());
      const std::string what = absl::StrCat("byte ", at % kPageBytes, " of page ", at / kPageBytes + 1);
      const absl::StatusOr<upkeep::CheckReport> report = upkeep::CheckDataset(folder.database());
      EXPECT_TRUE(!report.ok() || !report->damage.empty()) << what;
      // A damaged page that only readers read does not prevent a collector from starting, but is never sealed.
      if (!Serve(folder.database()).ok()) continue;
      const absl::StatusOr<upkeep::CheckReport> later = upkeep::CheckDataset(folder.database());
      EXPECT_TRUE(!later.ok() || !later->damage.empty()) << what << ", after a collector";
    }
  }

  const MemoryFolder folder_;
  const std::string path_;
};

TEST_F(ResealTest, AKilledCollectorIsReadThirtyTimesInBetween) {
  std::unique_ptr<DatasetStory> story = std::make_unique<DatasetStory>(WriterOptions{.checkpoint_pages = 100});
  Fill(*story);
  Begin(ReadFiles(story->path()));
  for (int kill = 0; kill < 30; ++kill) {
    RunElsewhere(path_, kCount);
    const std::string producer(16, static_cast<char>('A' + kill));
    Files left;
    {
      absl::StatusOr<std::unique_ptr<StoreWriter>> writer = OpenSqliteWriter(path_, {.checkpoint_pages = 100});
      ASSERT_TRUE(writer.ok()) << kill << ": " << writer.status();
      ASSERT_TRUE((*writer)->OpenProducer(producer, 1, "test").ok());
      ProducerBatch batch{.producer_id = producer, .epoch = 1, .first_seq = 1};
      const std::vector<v1::Record> records = {AttemptRecord(static_cast<char>('A' + kill), 'a'),
                                               Row(static_cast<char>('A' + kill), 1, 1)};
      AddRecords(records, &batch);
      ASSERT_TRUE((*writer)->CommitBatches({batch}).ok());
      left = ReadFiles(path_);
    }
    Begin(left);
  }
  RunElsewhere(path_, kCount);
  SweepFlips([](size_t) { return true; });
  ASSERT_TRUE(Serve(path_).ok());
  ExpectSealed(path_);
  SweepFlips([](size_t) { return true; });
}

TEST_F(ResealTest, AFlippedBitAfterASelectIsFoundInEachPage) {
  for (const Files* files : {&Killed(), &KilledEarly()}) {
    Begin(*files);
    RunElsewhere(path_, kCount);
    SweepFlips([](size_t) { return true; });
  }
}

TEST_F(ResealTest, AFlippedBitIsFoundInPagesThatAnotherProgramLeftAlone) {
  Begin(ClosedFiles());
  RunElsewhere(path_, "CREATE INDEX theirs ON measurements (perf_ms)");
  const std::string before = ClosedFiles().at("");
  const std::string after = ReadFiles(path_).at("");
  SweepFlips([&](size_t page) {
    const size_t at = (page - 1) * kPageBytes;
    return at < before.size() && before.compare(at, kPageBytes, after, at, kPageBytes) == 0;
  });
}

// Pages of another program are verified without checksums.
TEST_F(ResealTest, DamagedStructureIsFoundInAPageOfAnotherProgram) {
  Begin(ClosedFiles());
  RunElsewhere(path_, "VACUUM");
  Files files = ReadFiles(path_);
  files[""].replace(5 * kPageBytes, 200, std::string(200, '\x5a'));
  WriteFiles(files, path_);
  EXPECT_THAT(upkeep::CheckDataset(path_)->damage, Not(IsEmpty()));
  EXPECT_TRUE(absl::IsDataLoss(Serve(path_))) << Serve(path_);
  EXPECT_TRUE(ReadFiles(path_).at("") == files.at("")) << "a refused file stays unchanged";
}

TEST_F(ResealTest, BrokenReferencesOfAnotherProgramAreFound) {
  Begin(ClosedFiles());
  RunElsewhere(path_, "DELETE FROM attempts");
  EXPECT_TRUE(absl::IsDataLoss(Serve(path_)));
  EXPECT_THAT(std::string(Serve(path_).message()), HasSubstr("reference a row of attempts"));
}

TEST_F(ResealTest, AcknowledgedRecordsThatAnotherProgramRemovedAreFound) {
  Begin(ClosedFiles());
  RunElsewhere(path_, "UPDATE producers SET committed_seq = committed_seq - 100");
  EXPECT_THAT(std::string(Serve(path_).message()), HasSubstr("acknowledged records are missing"));
}

// If no other program wrote, a page that does not match its checksum is damaged, whatever its content.
TEST_F(ResealTest, APageThatLooksLikeAnotherProgramsIsDamageWhereNoneWrote) {
  Begin(ClosedFiles());
  RunElsewhere(path_, kCount);
  FlipIn(3, 3000, 1);
  FlipIn(3, 3001, 5);
  FlipIn(3, 2222, 7);
  EXPECT_THAT(upkeep::CheckDataset(path_)->damage, Contains(HasSubstr("page 3 of")));
}

TEST_F(ResealTest, WhatWasSealedIsReported) {
  Begin(Killed());
  RunElsewhere(path_, kCount);
  EXPECT_THAT(upkeep::CheckDataset(path_)->notes, ElementsAre(HasSubstr("match their recorded checksums")));
  ResealReport report;
  ASSERT_TRUE(Serve(path_, &report).ok());
  EXPECT_GT(report.logged, 0u);
  EXPECT_EQ(report.foreign, 0u);

  RunElsewhere(path_, "VACUUM");
  EXPECT_THAT(upkeep::CheckDataset(path_)->notes, ElementsAre(HasSubstr("another program wrote them")));
  ASSERT_TRUE(Serve(path_, &report).ok());
  EXPECT_GT(report.foreign, 0u);
}

// The first page in the log contains the size. Once another program has moved that page into the file, a change that
// keeps the size does not change the page.
TEST_F(ResealTest, AChangeThatCannotBeToldFromDamageIsSealedOnItsOwnersWord) {
  Begin(KilledEarly());
  RunElsewhere(path_, kCount);
  RunElsewhere(path_, kSameSizeUpdate);
  EXPECT_THAT(std::string(upkeep::ReportStatus(*upkeep::CheckDataset(path_)).message()), HasSubstr("check --reseal"));
  const absl::StatusOr<upkeep::CheckReport> report = upkeep::ResealAndCheckDataset(path_);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->damage, IsEmpty());
  EXPECT_THAT(report->notes, AllOf(Contains(HasSubstr("sealed again: page ")),
                                   Contains(AllOf(HasSubstr("integrity_check"), HasSubstr("acknowledged records")))));
  ExpectSealed(path_);
  EXPECT_TRUE(Serve(path_).ok());
}

TEST_F(ResealTest, ADamagedFileIsNotSealedOnItsOwnersWord) {
  Begin(ClosedFiles());
  Files files = ReadFiles(path_);
  files[""].replace(5 * kPageBytes, 200, std::string(200, '\x5a'));
  WriteFiles(files, path_);
  EXPECT_TRUE(absl::IsDataLoss(upkeep::ResealAndCheckDataset(path_).status()));
  EXPECT_TRUE(ReadFiles(path_).at("") == files.at(""));
}

}  // namespace
}  // namespace telemetry::storage::sqlite
