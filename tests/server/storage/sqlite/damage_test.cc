// Tests that a flipped bit or a truncation anywhere in the files of a dataset is reported, or has no effect on the
// dataset. A changed dataset must never be accepted as intact, and damaged files must be left unchanged.
//
// TELEMETRY_FAULTS: number of places per sweep (default 40); TELEMETRY_SEED: seed of the places.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/storage/sqlite/dataset_file.h"
#include "server/storage/sqlite/sqlite_database.h"
#include "server/storage/upkeep/backup.h"
#include "server/storage/upkeep/check.h"
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

int Places() { return Faults(40); }

// Stores records of every kind on several pages each, and leaves free pages.
void Fill(DatasetStory& story, uint64_t rows) {
  story.Send({RunRecord('a'), GraphRecord('a'), AttemptRecord('x', 'a'), RunRecord('b'), AttemptRecord('y', 'b')});
  for (uint64_t seq = 1; seq <= rows; ++seq) {
    const std::string text = absl::StrCat("Config(block=", seq, ", ", std::string(200, 'c'), ")");
    story.Send({ConfigRecord(seq, text), Row('x', seq, 0.5 + static_cast<double>(seq), seq), DetailRecord('x', seq)});
  }
}

// Returns the files of a dataset whose collector shut down in order.
const Files& Closed() {
  static const auto& files = *new Files([] {
    DatasetStory story;
    Fill(story, 300);
    story.Send({AttemptRecord('z', 'a')});
    std::vector<v1::Record> rows;
    for (uint64_t seq = 1; seq <= 500; ++seq) rows.push_back(Row('z', seq, 1, 1));
    story.Send(rows);
    story.Send({AttemptRecord('w', 'a')});
    EXPECT_TRUE(story.writer().Idle().ok());
    SqliteDatabase database = *SqliteDatabase::Open(story.path(), {});
    EXPECT_TRUE(database.Execute("DELETE FROM measurements WHERE attempt = 3; PRAGMA wal_checkpoint(TRUNCATE)").ok());
    return ReadFiles(story.path());
  }());
  return files;
}

// Returns the files of a dataset whose collector was killed. The acknowledged records are in the log.
// `checkpoint_pages` determines how often the log was checkpointed and whether it was restarted.
Files MakeKilled(int checkpoint_pages, uint64_t rows) {
  DatasetStory story({.checkpoint_pages = checkpoint_pages});
  Fill(story, rows);
  return ReadFiles(story.path());
}

const Files& KilledWithALongLog() {
  static const auto& files = *new Files(MakeKilled(100000, 12));
  return files;
}

const Files& KilledWithALogBegunAnew() {
  static const auto& files = *new Files(MakeKilled(100, 120));
  return files;
}

// Returns the files of a killed collector whose log is completely checkpointed, with no commit after the checkpoint.
const Files& KilledAfterACheckpoint() {
  static const auto& files = *new Files([] {
    DatasetStory story({.checkpoint_pages = 100000});
    Fill(story, 12);
    EXPECT_TRUE(SqliteDatabase::Open(story.path(), {})->Execute("PRAGMA wal_checkpoint(PASSIVE)").ok());
    return ReadFiles(story.path());
  }());
  return files;
}

absl::StatusOr<std::string> ExportFile(const std::string& path) {
  absl::StatusOr<std::unique_ptr<StoreReader>> reader = OpenSqliteReader(path);
  if (!reader.ok()) return reader.status();
  v1::ExportRequest request;
  request.set_details(true);
  std::string text;
  const absl::Status status = (*reader)->Export(request, [&text](const v1::ExportItem& item) {
    absl::StrAppend(&text, item.SerializeAsString());
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return text;
}

class DamageTest : public testing::Test {
 protected:
  // The effect of a damage.
  enum class Outcome { kSaid, kMeaningless, kSilent };

  // Determines how a collector, a check and an export react to `damaged`, each independently.
  static Outcome Try(const Files& sound, const Files& damaged) {
    static auto& exports = *new std::map<const Files*, std::string>();
    if (!exports.contains(&sound)) {
      const MemoryFolder folder;
      WriteFiles(sound, folder.database());
      EXPECT_THAT(upkeep::CheckDataset(folder.database())->damage, IsEmpty());
      EXPECT_TRUE(OpenSqliteWriter(folder.database()).ok());
      exports[&sound] = *ExportFile(folder.database());
    }
    const MemoryFolder folder;
    WriteFiles(damaged, folder.database());
    const absl::StatusOr<upkeep::CheckReport> report = upkeep::CheckDataset(folder.database());
    const absl::StatusOr<std::string> exported = ExportFile(folder.database());
    EXPECT_EQ(ReadFiles(folder.database()), damaged) << "a check and an export change nothing";
    const bool same = exported.ok() && *exported == exports[&sound];
    const bool said = !report.ok() || !report->damage.empty();
    if (exported.ok() && !same) return Outcome::kSilent;
    const absl::Status opened = OpenSqliteWriter(folder.database()).status();
    if (!opened.ok()) {
      EXPECT_EQ(ReadFiles(folder.database()), damaged) << "refused files stay unchanged: " << opened;
    }
    // If a file opens, an export reports its damaged pages. A log is accepted completely or not at all.
    if (said) return opened.ok() && damaged.at("-wal") != sound.at("-wal") ? Outcome::kSilent : Outcome::kSaid;
    return same && opened.ok() ? Outcome::kMeaningless : Outcome::kSilent;
  }

  // Damages one file at many places. `harm` damages the bytes and returns a description.
  void Sweep(const Files& sound, const std::string& suffix,
             const std::function<std::string(std::string& bytes, std::mt19937_64& random)>& harm) {
    std::mt19937_64 random(TestSeed());
    std::map<Outcome, int> outcomes;
    for (int place = 0; place < Places(); ++place) {
      Files damaged = sound;
      const std::string what = harm(damaged[suffix], random);
      const Outcome outcome = Try(sound, damaged);
      ++outcomes[outcome];
      EXPECT_NE(outcome, Outcome::kSilent) << what;
    }
    said_ = outcomes[Outcome::kSaid];
    std::cout << Places() << " places in " << sound.at(suffix).size() << " bytes: " << said_ << " said, "
              << outcomes[Outcome::kMeaningless] << " without meaning" << std::endl;
  }

  static std::string FlipABit(std::string& bytes, std::mt19937_64& random) {
    const size_t at = random() % bytes.size();
    const int bit = static_cast<int>(random() % 8);
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
    return absl::StrCat("bit ", bit, " of byte ", at);
  }

  // Truncates the bytes, more often than not at the end of a page or of a log frame.
  static std::string Cut(std::string& bytes, std::mt19937_64& random) {
    size_t length = random() % bytes.size();
    const size_t begin = bytes.starts_with("SQLite") ? 0 : 32;
    if (random() % 2 == 0 && length > begin) length -= (length - begin) % (begin == 0 ? 4096 : 4096 + 24);
    bytes.resize(length);
    return absl::StrCat("cut to ", length, " bytes");
  }

  int said_ = 0;
};

TEST_F(DamageTest, AFlippedBitInTheDatabase) {
  Sweep(Closed(), "", FlipABit);
  EXPECT_EQ(said_, Places()) << "each bit of each page counts";
}

TEST_F(DamageTest, ACutDatabase) {
  Sweep(Closed(), "", Cut);
  EXPECT_EQ(said_, Places());
}

// After the last commit the log is empty, or contains frames from before its last restart.
TEST_F(DamageTest, AFlippedBitInALog) {
  Sweep(KilledWithALongLog(), "-wal", FlipABit);
  EXPECT_EQ(said_, Places()) << "all of the log was acknowledged";
}

TEST_F(DamageTest, AFlippedBitInALogThatWasBegunAnew) { Sweep(KilledWithALogBegunAnew(), "-wal", FlipABit); }

TEST_F(DamageTest, AFlippedBitInALogThatIsInTheDatabase) { Sweep(KilledAfterACheckpoint(), "-wal", FlipABit); }

TEST_F(DamageTest, ACutLog) {
  Sweep(KilledWithALongLog(), "-wal", Cut);
  EXPECT_EQ(said_, Places());
}

TEST_F(DamageTest, ACutLogThatWasBegunAnew) { Sweep(KilledWithALogBegunAnew(), "-wal", Cut); }

TEST_F(DamageTest, ACutLogThatIsInTheDatabase) { Sweep(KilledAfterACheckpoint(), "-wal", Cut); }

TEST_F(DamageTest, AFlippedBitInTheDatabaseOfAKilledCollector) { Sweep(KilledWithALogBegunAnew(), "", FlipABit); }

TEST_F(DamageTest, AFlippedBitInWhatWasAcknowledged) {
  Sweep(KilledWithALongLog(), ".acked", FlipABit);
  EXPECT_EQ(said_, Places());
}

// Without the mark, which a power cut may remove, the log itself shows the frames that were on disk once, except for
// its last commits.
TEST_F(DamageTest, ALogWithoutAMarkIsDamagedInItsMiddle) {
  Files sound = KilledWithALongLog();
  sound[".acked"].clear();
  Files damaged = sound;
  damaged["-wal"][sound["-wal"].size() / 2] ^= 1;
  EXPECT_EQ(Try(sound, damaged), Outcome::kSaid);
}

// A page that the disk wrote to another page's position is intact in itself.
TEST_F(DamageTest, APageInTheWrongPlace) {
  Files damaged = Closed();
  damaged[""].replace(4096 * 7, 4096, Closed().at(""), 4096 * 8, 4096);
  EXPECT_EQ(Try(Closed(), damaged), Outcome::kSaid);
}

TEST_F(DamageTest, EachBadPageIsNamed) {
  const MemoryFolder folder;
  Files damaged = Closed();
  for (const size_t page : {5, 9, 20}) damaged[""][page * 4096 - 100] ^= 1;
  WriteFiles(damaged, folder.database());
  const upkeep::CheckReport report = *upkeep::CheckDataset(folder.database());
  for (const char* page : {"page 5 of", "page 9 of", "page 20 of"}) {
    EXPECT_THAT(report.damage, Contains(HasSubstr(absl::StrCat(page, " ", folder.database(), " is damaged"))));
  }
}

// The error of a reader names the damaged page and the remedy.
TEST_F(DamageTest, AnExportOfABadPageIsRefused) {
  const MemoryFolder folder;
  Files damaged = Closed();
  for (size_t page = 2; page * 4096 < damaged[""].size(); ++page) damaged[""][page * 4096 - 100] ^= 1;
  WriteFiles(damaged, folder.database());
  const absl::Status status = ExportFile(folder.database()).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("its checksum does not match"), HasSubstr("restore a backup")));
}

// Creates a dataset as an older program did.
std::string MakeDatasetWithoutChecksums(const MemoryFolder& folder) {
  sqlite3* plain = nullptr;
  EXPECT_EQ(sqlite3_open(folder.database().c_str(), &plain), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(plain, "CREATE TABLE x (y); DROP TABLE x", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(plain);
  EXPECT_TRUE(OpenSqliteWriter(folder.database()).ok());
  return folder.database();
}

TEST_F(DamageTest, AnOlderDatasetIsCheckedWithoutChecksumsAndCanGetThem) {
  const MemoryFolder folder;
  const std::string path = MakeDatasetWithoutChecksums(folder);
  EXPECT_THAT(upkeep::CheckDataset(path)->notes, ElementsAre(HasSubstr("no checksums")));
  const absl::StatusOr<bool> added = AddPageChecksums(path);
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_TRUE(*added);
  EXPECT_FALSE(*AddPageChecksums(path)) << "the pages already have checksums";
  const upkeep::CheckReport report = *upkeep::CheckDataset(path);
  EXPECT_THAT(report.notes, IsEmpty());
  EXPECT_THAT(report.damage, IsEmpty());
}

TEST_F(DamageTest, ABackupOfAnOlderDatasetHasChecksums) {
  const MemoryFolder folder;
  const std::string copy = folder.database() + ".copy";
  ASSERT_TRUE(upkeep::BackUpDataset(MakeDatasetWithoutChecksums(folder), copy).ok());
  EXPECT_THAT(upkeep::CheckDataset(copy)->notes, IsEmpty());
  EXPECT_THAT(upkeep::CheckDataset(copy)->damage, IsEmpty());
}

}  // namespace
}  // namespace telemetry::storage::sqlite
