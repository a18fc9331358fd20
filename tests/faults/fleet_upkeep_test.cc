// Tests the fleet of fleet_fault_test while retention, exports and a rolling upgrade run: every acknowledged row is
// stored once unless retention removed its attempt, and only attempts that have ended and are not the newest of their
// run are removed.
//
// TELEMETRY_FAULTS is the number of faults (default 12). TELEMETRY_FAULTS=300 also compares the times to an
// acknowledgement with and without retention.

#include <algorithm>
#include <array>
#include <atomic>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/storage/postgresql/pg_migrator.h"
#include "server/storage/sql/transaction.h"
#include "tests/faults/attempts_log.h"
#include "tests/faults/fleet_fault_fixture.h"
#include "tests/faults/kept_attempts.h"
#include "tests/run_program.h"

namespace telemetry::faults {
namespace {

using storage::postgresql::EmbeddedPgMigrations;
using storage::postgresql::PgDatabase;

constexpr int kFullSize = 300;
constexpr int kShortRun = 12;

// A thread that repeats `work` until it is stopped.
class Repeated {
 public:
  template <typename Work>
  explicit Repeated(Work work)
      : thread_([this, work] {
          while (!stop_) work();
        }) {}
  ~Repeated() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// Each field: a time to an acknowledgement in milliseconds.
struct AckTimes {
  size_t batches = 0;
  double p50 = 0;
  double p99 = 0;
};

std::ostream& operator<<(std::ostream& out, const AckTimes& times) {
  return out << "p50 " << times.p50 << " ms, p99 " << times.p99 << " ms of " << times.batches << " batches";
}

AckTimes Summarise(std::vector<uint64_t> microseconds) {
  if (microseconds.empty()) return {};
  std::sort(microseconds.begin(), microseconds.end());
  const auto at = [&](size_t percent) {
    return static_cast<double>(microseconds[microseconds.size() * percent / 100]) / 1000;
  };
  return {.batches = microseconds.size(), .p50 = at(50), .p99 = at(99)};
}

class FleetUpkeepTest : public FleetFaultTest {
 protected:
  FleetUpkeepTest() {
    many_attempts_ = true;
    EXPECT_EQ(NoteRemovals(*OpenDataset()), absl::OkStatus());
  }

  // Checks one state of the dataset.
  void ExpectAckedIsStored() override {
    std::array<uint64_t, kProducers> acked;
    for (int number = 0; number < kProducers; ++number) acked[number] = AckedBy(number);
    const std::unique_ptr<storage::sql::Database> dataset = OpenDataset();
    ASSERT_NE(dataset, nullptr);
    const absl::StatusOr<storage::sql::Transaction> transaction = storage::sql::Transaction::BeginRead(*dataset);
    const absl::StatusOr<KeptAttempts> attempts = ReadAttempts(*dataset);
    const absl::StatusOr<Removals> removals = ReadRemovals(*dataset);
    ASSERT_TRUE(attempts.ok() && removals.ok()) << attempts.status() << removals.status();
    EXPECT_EQ(removals->forbidden, 0);
    uint64_t found = 0;
    for (int number = 0; number < kProducers; ++number) {
      found += ExpectKeptOrRemoved(number, acked[number], *attempts, *removals);
    }
    EXPECT_EQ(found, attempts->size()) << "there are attempts that nobody sent";
    for (const auto& [id, rows] : *attempts) EXPECT_EQ(removals->times.count(id), 0u) << "an attempt came back";
  }

  // Removes everything that may be removed. May fail, since the server is killed.
  ProgramOutcome Prune() {
    return RunProgram("telemetry-collector", absl::StrCat("prune --db '", commits_.url(), "' --keep-bytes 1"));
  }

  // Exports from the dataset or from a collector, alternately. If the export succeeds, checks it.
  void Export() {
    std::array<uint64_t, kProducers> acked;
    for (int number = 0; number < kProducers; ++number) acked[number] = AckedBy(number);
    const std::string source =
        ++exports_begun_ % 2 == 0 ? absl::StrCat("--db '", server_.url(), "'") : "--collector " + balancer_->address();
    const ProgramOutcome outcome =
        RunProgram("telemetry-export", absl::StrCat(source, " --layout keyed --allow-empty --out ", File("export")));
    if (outcome.exit_status != 0) return;  // the server was down, or an attempt was removed meanwhile
    const KeptAttempts attempts = ReadExportedAttempts(File("export.csv"));
    const Removals removals = AwaitRemovals();
    for (int number = 0; number < kProducers; ++number) {
      ExpectKeptOrRemoved(number, acked[number], attempts, removals);
    }
    ++exports_;
  }

  // Migrates to a schema of the next version, as its first collector would. The fleet is the older version.
  void Upgrade() {
    std::vector<storage::sql::Migration> next(EmbeddedPgMigrations().begin(), EmbeddedPgMigrations().end());
    const int known = next.back().number;
    next.push_back({known + 1, "additions",
                    "ALTER TABLE measurements ADD COLUMN added bigint NOT NULL DEFAULT 0; "
                    "ALTER TABLE attempts ADD COLUMN added text; CREATE TABLE more (x bigint)",
                    known});
    const absl::Time start = absl::Now();
    int tries = 1;
    for (; absl::Now() < start + kPatience; ++tries) {
      const absl::StatusOr<std::unique_ptr<PgDatabase>> database = PgDatabase::Open(server_.url());
      if (database.ok() && MigratePg(**database, absl::Now(), next).ok()) break;
      absl::SleepFor(kLookInterval);
    }
    std::cout << absl::StrCat("upgraded in ", absl::FormatDuration(absl::Now() - start), ", tries: ", tries, "\n");
  }

  // Ends a connection in the middle of a pass of retention, or any connection of a program of ours if there is no pass.
  void EndAConnection() {
    const std::unique_ptr<storage::sql::Database> dataset = OpenDataset();
    ASSERT_NE(dataset, nullptr);
    // The programs may not have connected yet to a server that has just started.
    for (const absl::Time deadline = absl::Now() + kPatience; absl::Now() < deadline; absl::SleepFor(kLookInterval)) {
      const absl::StatusOr<int64_t> ended = dataset->QueryInt(
          "SELECT count(pg_terminate_backend(pid)) FROM (SELECT s.pid FROM pg_stat_activity AS s LEFT JOIN pg_locks AS "
          "l ON l.pid = s.pid AND l.locktype = 'advisory' AND (l.classid::bigint << 32 | l.objid::bigint) = "
          "8115602334917743093 WHERE s.application_name = 'autotune-telemetry' AND s.pid <> pg_backend_pid() "
          "ORDER BY l.pid IS NULL, random() LIMIT 1) AS chosen");
      ASSERT_TRUE(ended.ok()) << ended.status();
      if (*ended == 1) return;
    }
    ADD_FAILURE() << "no program is connected";
  }

  void KillEachCollector() {
    for (int number = 0; number < kFleetCollectors; ++number) KillTheCollector(number);
  }

  // Returns the times to an acknowledgement during the next `duration`.
  std::vector<uint64_t> AckTimesDuring(absl::Duration duration) {
    std::array<size_t, kProducers> before;
    for (int number = 0; number < kProducers; ++number) before[number] = Ledger::ReadTimes(LedgerPath(number)).size();
    absl::SleepFor(duration);
    std::vector<uint64_t> times;
    for (int number = 0; number < kProducers; ++number) {
      const std::vector<uint64_t> all = Ledger::ReadTimes(LedgerPath(number));
      times.insert(times.end(), all.begin() + static_cast<std::ptrdiff_t>(before[number]), all.end());
    }
    return times;
  }

  // Compares the times without and with retention, in turns.
  void CompareAckTimes() {
    const bool is_full = Faults(kShortRun) >= kFullSize;
    const absl::Duration turn = is_full ? absl::Seconds(10) : absl::Milliseconds(500);
    std::vector<uint64_t> without;
    std::vector<uint64_t> with;
    for (int i = 0; i < 3; ++i) {
      for (const uint64_t time : AckTimesDuring(turn)) without.push_back(time);
      const Repeated retention([this] { Prune(); });
      for (const uint64_t time : AckTimesDuring(turn)) with.push_back(time);
    }
    const AckTimes off = Summarise(without);
    const AckTimes on = Summarise(with);
    std::cout << "acknowledgements without retention: " << off << "\nacknowledgements with retention: " << on
              << std::endl;
    // A short run has too few of them.
    if (is_full) {
      EXPECT_LE(on.p99, 2 * off.p99);
    }
  }

  // Compares the dataset with the ledgers of producers that have ended.
  void ExpectLedgersAreKeptOrRemoved() {
    uint64_t rows = 0;
    for (int number = 0; number < kProducers; ++number) {
      const Ledger::Promises promised = Ledger::Read(LedgerPath(number));
      EXPECT_GE(promised.acked, promised.accepted) << "producer " << number;
      for (uint64_t attempt = 0; attempt < AttemptsBegun(promised.accepted); ++attempt) {
        rows += RowsAmong(attempt, promised.accepted);
      }
    }
    ExpectAckedIsStored();
    const Removals removals = AwaitRemovals();
    EXPECT_GT(removals.times.size(), 0u);
    const int64_t kept = Query("SELECT count(*) FROM measurements AS m JOIN attempts AS a ON a.attempt = m.attempt");
    EXPECT_EQ(rows, static_cast<uint64_t>(kept) + removals.times.size() * kRowsPerAttempt);
    EXPECT_EQ(Query("SELECT count(*) FROM producers WHERE client = 'fault-producer'"), kProducers);
    EXPECT_EQ(Query("SELECT count(*) FROM rejects"), 0);
    std::cout << rows << " rows, " << removals.times.size() << " attempts with "
              << removals.times.size() * kRowsPerAttempt << " of them removed, " << removals.late
              << " after a newer one of their run" << std::endl;
  }

  // Removes the rest, and checks that nothing of removed attempts is left.
  void ExpectTheNewestAttemptsRemain() {
    const ProgramOutcome pruned = Prune();
    EXPECT_EQ(pruned.exit_status, 0) << pruned.output;
    EXPECT_EQ(Query("SELECT count(*) FROM attempts"), kProducers);
    EXPECT_EQ(Query("SELECT count(*) FROM removed_attempts"), 0);
    EXPECT_EQ(Query("SELECT count(*) FROM measurements AS m WHERE NOT EXISTS (SELECT FROM attempts AS a WHERE "
                    "a.attempt = m.attempt)"),
              0);
    const ProgramOutcome checked = RunProgram("telemetry-collector", absl::StrCat("check --db '", server_.url(), "'"));
    EXPECT_EQ(checked.exit_status, 0) << checked.output;
    ExpectAckedIsStored();
  }

  int exports() const { return exports_; }
  int exports_begun() const { return exports_begun_; }

 private:
  // Reads the removals; repeats it while the server is down.
  Removals AwaitRemovals() {
    for (const absl::Time deadline = absl::Now() + kPatience; absl::Now() < deadline; absl::SleepFor(kLookInterval)) {
      const absl::StatusOr<std::unique_ptr<PgDatabase>> dataset = PgDatabase::Open(server_.url());
      if (!dataset.ok()) continue;
      absl::StatusOr<Removals> removals = ReadRemovals(**dataset);
      if (removals.ok()) return *std::move(removals);
    }
    ADD_FAILURE() << "the server does not answer";
    return {};
  }

  std::atomic<int> exports_ = 0;
  std::atomic<int> exports_begun_ = 0;
};

// A producer that had a backlog sends several attempts at once. Retention may remove the first of them before the
// acknowledgement arrives.
TEST(KeptAttemptsTest, AnAttemptBehindARemovedOneIsCountedBeforeBothAreAcknowledged) {
  const KeptAttempts attempts = {{AttemptIdOf(0, 1), {}}};
  const Removals removals = {.times = {{AttemptIdOf(0, 0), 1}}};
  EXPECT_EQ(ExpectKeptOrRemoved(/*number=*/0, /*acked=*/2, attempts, removals), 1u);
}

TEST_F(FleetUpkeepTest, NothingIsLostWhileRetentionExportsAndAnUpgradeRun) {
  StartProducers();
  AwaitProgress();
  CompareAckTimes();
  // From now on, a collector makes a pass of retention when it starts.
  collector_flags_ = {"--keep-bytes=1"};
  std::array<int, 4> faults = {};
  {
    const Repeated retention([this] {
      Prune();
      absl::SleepFor(absl::Milliseconds(200));
    });
    const Repeated exporting([this] {
      Export();
      absl::SleepFor(absl::Milliseconds(200));
    });
    std::thread upgrade;
    const int count = Faults(kShortRun);
    for (int fault = 0; fault < count && !HasFailure(); ++fault) {
      if (fault == count / 2) upgrade = std::thread([this] { Upgrade(); });
      WaitForARandomMoment();
      const int kind = RandomBelow(4);
      kind == 0 ? KillACollector() : kind == 1 ? KillTheServer() : kind == 2 ? CutACommit() : EndAConnection();
      ++faults[kind];
      if (fault % 10 == 9) AwaitProgress();
    }
    if (upgrade.joinable()) upgrade.join();
    // Each collector starts on the newer schema.
    KillEachCollector();
    balancer_->Behave();
    AwaitProgress();
    for (const int before = exports(); exports() < before + 2 && !HasFailure();) absl::SleepFor(kLookInterval);
  }
  std::cout << "collectors killed: " << faults[0] << ", servers killed: " << faults[1]
            << ", commits cut off: " << faults[2] << ", connections ended: " << faults[3]
            << "; exports completed: " << exports() << " of " << exports_begun() << std::endl;
  StopProducers();
  EXPECT_EQ(Query("SELECT max(version)::bigint FROM schema_versions"), EmbeddedPgMigrations().back().number + 1);
  ExpectLedgersAreKeptOrRemoved();
  ExpectNoLockIsLeft();
  ExpectTheNewestAttemptsRemain();
}

}  // namespace
}  // namespace telemetry::faults
