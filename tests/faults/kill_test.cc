// Processes that die at any moment and acknowledgements that get lost: nothing is lost, nothing is stored twice.
//
// TELEMETRY_FAULTS: how many faults each test makes (default 50).

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "proto/record/ids.h"
#include "server/storage/database.h"
#include "server/storage/statement.h"
#include "tests/bench/bench_ingest/collector_process.h"
#include "tests/faults/cutting_proxy.h"
#include "tests/faults/ledger.h"

namespace telemetry::faults {
namespace {

using bench::CollectorProcess;

constexpr int kProducers = 8;

int Faults() {
  const char* text = std::getenv("TELEMETRY_FAULTS");
  return text == nullptr ? 50 : std::atoi(text);
}

unsigned Seed() {
  const char* text = std::getenv("TELEMETRY_SEED");
  return text == nullptr ? std::random_device()() : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

// A collector and eight producer processes in a folder of their own.
class KillTest : public testing::Test {
 protected:
  KillTest() : seed_(Seed()), random_(seed_) {
    std::string pattern = (std::filesystem::temp_directory_path() / "telemetry-faults-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::cout << "TELEMETRY_SEED=" << seed_ << std::endl;
    collector_ = std::make_unique<CollectorProcess>(CollectorProcess::Start(db()));
    port_ = collector_->port();
    address_ = collector_->address();
  }

  ~KillTest() override {
    for (const auto& [number, pid] : producers_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
    collector_.reset();
    if (HasFailure()) {
      std::cout << "files are kept in " << folder_ << std::endl;
    } else {
      std::filesystem::remove_all(folder_);
    }
  }

  std::string db() const { return folder_ + "/dataset.db"; }
  std::string LedgerOf(int number) const { return absl::StrCat(folder_, "/ledger-", number); }

  void StartProducer(int number) {
    const std::string program = bench::ProgramPath("fault-producer");
    const std::string spool = absl::StrCat(folder_, "/spool-", number);
    const std::string ledger = LedgerOf(number);
    const std::string text = absl::StrCat(number);
    const std::string stop = folder_ + "/stop";
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      execl(program.c_str(), program.c_str(), address_.c_str(), spool.c_str(), ledger.c_str(), text.c_str(),
            stop.c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
    producers_[number] = pid;
  }
  void StartProducers() {
    for (int number = 0; number < kProducers; ++number) StartProducer(number);
  }

  // A moment that nobody can foresee: time is what this test is about.
  void WaitForARandomMoment() {
    absl::SleepFor(absl::Microseconds(std::uniform_int_distribution<int>(0, 150'000)(random_)));
  }

  void KillProducer(int number) {
    kill(producers_[number], SIGKILL);
    int status = 0;
    waitpid(producers_[number], &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "producer " << number << " ended before: status " << WEXITSTATUS(status);
    StartProducer(number);
  }

  // Kills the collector, looks whether it kept what it had promised, and starts it again.
  void KillCollector() {
    collector_->Kill();
    for (int number = 0; number < kProducers; ++number) {
      const uint64_t acked = Ledger::Read(LedgerOf(number)).acked;
      if (acked > kRecordsBeforeRows) ExpectRows(number, acked - kRecordsBeforeRows);
    }
    *collector_ = CollectorProcess::Start(db(), port_);
  }

  // The dataset has at least rows 1 to `count` of a producer, each as it was appended, and none twice.
  void ExpectRows(int number, uint64_t count) {
    absl::StatusOr<storage::Database> database = storage::Database::Open(db(), {.read_only = true, .vfs = ""});
    ASSERT_TRUE(database.ok()) << database.status();
    storage::Statement rows(*database,
                            "SELECT m.seq, m.timestamp_s, m.perf_ms FROM measurements AS m JOIN attempts AS a "
                            "ON a.attempt = m.attempt WHERE a.attempt_id = ?1 ORDER BY m.seq");
    const std::string attempt_id = RecordOf(number, 2).attempt().attempt_id();
    rows.Bind(storage::Blob{attempt_id});
    uint64_t seq = 0;
    for (absl::StatusOr<bool> row = rows.Step(); row.value(); row = rows.Step()) {
      const v1::Measurement expected = RecordOf(number, ++seq + kRecordsBeforeRows).measurement();
      ASSERT_EQ(rows.Int(0), static_cast<int64_t>(seq)) << "producer " << number;
      ASSERT_EQ(rows.Double(1), expected.timestamp_s()) << "producer " << number << ", row " << seq;
      ASSERT_EQ(rows.Double(2), expected.perf_ms()) << "producer " << number << ", row " << seq;
    }
    ASSERT_GE(seq, count) << "rows of producer " << number << " are missing";
  }

  int64_t Query(const char* sql) {
    absl::StatusOr<storage::Database> database = storage::Database::Open(db(), {.read_only = true, .vfs = ""});
    EXPECT_TRUE(database.ok()) << database.status();
    return database.ok() ? database->QueryInt(sql).value() : -1;
  }

  // Ends the producers in peace and holds the dataset against their ledgers.
  void ExpectEverythingStoredOnce() {
    std::ofstream(folder_ + "/stop").flush();
    for (const auto& [number, pid] : producers_) {
      int status = 0;
      waitpid(pid, &status, 0);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "producer " << number << ", status " << status;
    }
    producers_.clear();
    EXPECT_EQ(collector_->Stop(), 0);
    int64_t accepted = 0;
    for (int number = 0; number < kProducers; ++number) {
      const Ledger::Promises promised = Ledger::Read(LedgerOf(number));
      EXPECT_GT(promised.accepted, kRecordsBeforeRows);
      EXPECT_GE(promised.acked, promised.accepted) << "producer " << number;
      accepted += static_cast<int64_t>(promised.accepted - kRecordsBeforeRows);
      ExpectRows(number, promised.accepted - kRecordsBeforeRows);
    }
    // A producer killed between Append and its ledger may have stored one batch more than it wrote down.
    EXPECT_GE(Query("SELECT count(*) FROM measurements"), accepted);
    EXPECT_EQ(Query("SELECT count(*) FROM attempts"), kProducers);
    EXPECT_EQ(Query("SELECT count(*) FROM producers"), kProducers);
    EXPECT_EQ(Query("SELECT count(*) FROM rejects"), 0);
    EXPECT_EQ(Query("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
    std::cout << accepted << " rows" << std::endl;
  }

  const unsigned seed_;
  std::mt19937 random_;
  std::string folder_;
  std::string address_;
  int port_ = 0;
  std::unique_ptr<CollectorProcess> collector_;
  std::map<int, pid_t> producers_;
};

TEST_F(KillTest, TheCollectorDiesAtAnyMoment) {
  StartProducers();
  for (int fault = 0; fault < Faults() && !HasFailure(); ++fault) {
    WaitForARandomMoment();
    KillCollector();
  }
  ExpectEverythingStoredOnce();
}

TEST_F(KillTest, ProducersDieAtAnyMoment) {
  StartProducers();
  for (int fault = 0; fault < Faults() && !HasFailure(); ++fault) {
    WaitForARandomMoment();
    KillProducer(std::uniform_int_distribution<int>(0, kProducers - 1)(random_));
  }
  ExpectEverythingStoredOnce();
}

TEST_F(KillTest, BothDieAtAnyMoment) {
  StartProducers();
  for (int fault = 0; fault < Faults() && !HasFailure(); ++fault) {
    WaitForARandomMoment();
    KillProducer(std::uniform_int_distribution<int>(0, kProducers - 1)(random_));
    if (fault % 4 == 0) KillCollector();
  }
  ExpectEverythingStoredOnce();
}

TEST_F(KillTest, AcknowledgementsAreCutOff) {
  CuttingProxy proxy(port_, seed_);
  address_ = proxy.address();
  StartProducers();
  EXPECT_TRUE(proxy.AwaitCuts(Faults(), absl::Minutes(2)));
  proxy.Behave();
  ExpectEverythingStoredOnce();
}

}  // namespace
}  // namespace telemetry::faults
