// Tests backups of a dataset under load, and producers that continue after a backup was restored.
//
// TELEMETRY_FAULTS=60 makes 60 backups, one per second (default: 4).

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "server/storage/sqlite/sqlite_database.h"
#include "tests/faults/fault_test.h"
#include "tests/faults/stored_rows.h"
#include "tests/run_program.h"

namespace telemetry::faults {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kMostLogBytes = uint64_t{64} << 20;

// Returns the time limit of a program in seconds. It grows with the number of backups, because the dataset does.
int LimitS() { return std::max(60, 2 * Faults(4)); }

class BackupTest : public FaultTest {
 protected:
  using Acked = std::array<uint64_t, kProducers>;

  Acked AckedByAll() const {
    Acked acked;
    for (int number = 0; number < kProducers; ++number) acked[number] = AckedBy(number);
    return acked;
  }

  // Makes a backup; returns the sequence numbers that had been acknowledged before it started.
  Acked BackUp(const std::string& path) {
    const Acked acked = AckedByAll();
    const ProgramOutcome made =
        RunProgram("telemetry-collector", absl::StrCat("backup --db ", db(), " --to ", path), "", LimitS());
    EXPECT_EQ(made.exit_status, 0) << made.output;
    const ProgramOutcome checked = RunProgram("telemetry-collector", absl::StrCat("check --db ", path), "", LimitS());
    EXPECT_EQ(checked.exit_status, 0) << checked.output;
    return acked;
  }

  static std::string CountRowsQuery(int number) {
    return absl::StrCat("SELECT count(*) FROM measurements JOIN attempts USING (attempt) WHERE hex(attempt_id) = '",
                        absl::BytesToHexString(MakeRecord(number, 2).attempt().attempt_id()), "' COLLATE NOCASE");
  }

  // Exports under load, and checks that the export contains no row twice and all rows that had been acknowledged before
  // it started.
  void ExpectExportHolds(const Acked& acked) {
    const std::string out = File("export");
    const ProgramOutcome exported =
        RunProgram("telemetry-export", absl::StrCat("--db ", db(), " --out ", out, " --allow-empty"), "", LimitS());
    EXPECT_EQ(exported.exit_status, 0) << exported.output;
    uint64_t promised = 0;
    for (const uint64_t seq : acked) promised += seq - std::min(seq, kRecordsBeforeRows);
    std::ifstream csv(out + ".csv");
    std::set<std::string> lines;
    uint64_t count = 0;
    for (std::string line; std::getline(csv, line); ++count) lines.insert(line);
    EXPECT_EQ(lines.size(), count) << "a row stands there twice";
    EXPECT_GT(count, promised) << "the header, and what was acknowledged";
  }

  static int64_t QueryIn(const std::string& path, const std::string& sql) {
    absl::StatusOr<storage::sqlite::SqliteDatabase> database =
        storage::sqlite::SqliteDatabase::Open(path, {.read_only = true});
    EXPECT_TRUE(database.ok()) << database.status();
    return database.ok() ? database->QueryInt(sql.c_str()).value_or(-1) : -1;
  }

  // Checks that the dataset contains a prefix of each producer's rows, including all rows in `acked`.
  void ExpectHolds(const std::string& path, const Acked& acked) {
    for (int number = 0; number < kProducers; ++number) {
      ExpectRowsIn(*OpenFile(path), number,
                   acked[number] > kRecordsBeforeRows ? acked[number] - kRecordsBeforeRows : 0);
    }
  }
};

TEST_F(BackupTest, EachOfABusyDatasetIsSoundAndHoldsWhatWasAcknowledged) {
  StartCollector();
  StartProducers();
  uint64_t longest_log = 0;
  absl::Time next = absl::Now();
  for (int i = 0; i < Faults(4) && !HasFailure(); ++i) {
    absl::SleepFor(next - absl::Now());
    next = absl::Now() + absl::Seconds(1);
    const std::string path = File(absl::StrCat("backup-", i, ".db"));
    const Acked acked = BackUp(path);
    ExpectHolds(path, acked);
    ExpectExportHolds(acked);
    longest_log = std::max<uint64_t>(longest_log, std::filesystem::file_size(db() + "-wal"));
    std::filesystem::remove(path);
  }
  EXPECT_LT(longest_log, kMostLogBytes);
  ExpectEverythingStoredOnce();
}

TEST_F(BackupTest, ProducersGoOnBehindAnOlderOneThatIsRestored) {
  StartCollector();
  StartProducers();
  AwaitProgress();
  const std::string backup = File("backup.db");
  const Acked in_backup = BackUp(backup);
  AwaitProgress();
  EXPECT_EQ(collector_->Stop(), 0);
  const Acked promised = AckedByAll();
  const int64_t rows_before = Query("SELECT count(*) FROM measurements");

  const ProgramOutcome restored =
      RunProgram("telemetry-collector", absl::StrCat("restore --from ", backup, " --to ", db()));
  ASSERT_EQ(restored.exit_status, 0) << restored.output;
  EXPECT_THAT(restored.output, HasSubstr("acknowledged after the backup and missing from it: "));
  ASSERT_LT(Query("SELECT count(*) FROM measurements"), rows_before);
  StartCollector();
  AwaitProgress();
  StopProducers();
  EXPECT_EQ(collector_->Stop(), 0);
  for (int number = 0; number < kProducers; ++number) {
    const uint64_t lost = promised[number] - std::min(promised[number], in_backup[number]);
    const int64_t rows = QueryIn(db(), CountRowsQuery(number));
    // Records acknowledged after the backup may be missing; all records after the restore are there.
    EXPECT_GE(rows, static_cast<int64_t>(AckedBy(number) - kRecordsBeforeRows - lost)) << "producer " << number;
    EXPECT_GT(AckedBy(number), promised[number]) << "producer " << number;
  }
  const ProgramOutcome checked = RunProgram("telemetry-collector", absl::StrCat("check --db ", db()));
  EXPECT_EQ(checked.exit_status, 0) << checked.output;
}

}  // namespace
}  // namespace telemetry::faults
