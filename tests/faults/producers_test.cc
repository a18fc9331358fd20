#include "tests/faults/producers_test.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/bench/bench_ingest/collector_process.h"
#include "tests/environment.h"
#include "tests/faults/stored_rows.h"

namespace telemetry::faults {

ProducersTest::ProducersTest() : seed_(TestSeed()), random_(seed_) {
  std::string pattern = (std::filesystem::temp_directory_path() / "telemetry-faults-XXXXXX").string();
  folder_ = mkdtemp(pattern.data());
}

ProducersTest::~ProducersTest() {
  for (const auto& [number, pid] : producers_) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  if (HasFailure()) {
    std::cout << "files are kept in " << folder_ << std::endl;
  } else {
    std::filesystem::remove_all(folder_);
  }
}

void ProducersTest::StartProducer(int number) {
  const std::string program = bench::ProgramPath("fault-producer");
  const std::string spool = absl::StrCat(folder_, "/spool-", number);
  const std::string ledger = LedgerPath(number);
  const std::string text = absl::StrCat(number);
  const std::string stop = File("stop");
  const std::string pause = absl::StrCat(pause_ms_);
  const pid_t pid = fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execl(program.c_str(), program.c_str(), address_.c_str(), spool.c_str(), ledger.c_str(), text.c_str(), stop.c_str(),
          pause.c_str(), many_attempts_ ? "attempts" : nullptr, static_cast<char*>(nullptr));
    _exit(127);
  }
  producers_[number] = pid;
}

void ProducersTest::StartProducers() {
  for (int number = 0; number < kProducers; ++number) StartProducer(number);
}

void ProducersTest::WaitForARandomMoment() {
  absl::SleepFor(absl::Microseconds(std::uniform_int_distribution<int>(0, 150'000)(random_)));
}

void ProducersTest::KillProducer(int number) {
  kill(producers_[number], SIGKILL);
  int status = 0;
  waitpid(producers_[number], &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status)) << "producer " << number << " ended before: status " << WEXITSTATUS(status);
  StartProducer(number);
}

void ProducersTest::AwaitProgress() {
  std::array<uint64_t, kProducers> before;
  for (int number = 0; number < kProducers; ++number) before[number] = AckedBy(number);
  const absl::Time deadline = absl::Now() + kPatience;
  for (int number = 0; number < kProducers; ++number) {
    while (AckedBy(number) == before[number]) {
      ASSERT_LT(absl::Now(), deadline) << "nothing of producer " << number << " is acknowledged";
      absl::SleepFor(kLookInterval);
    }
  }
}

void ProducersTest::ExpectAckedIsStored() {
  std::array<uint64_t, kProducers> acked;
  for (int number = 0; number < kProducers; ++number) acked[number] = AckedBy(number);
  const std::unique_ptr<storage::sql::Database> dataset = OpenDataset();
  ASSERT_NE(dataset, nullptr);
  for (int number = 0; number < kProducers; ++number) {
    if (acked[number] > kRecordsBeforeRows) ExpectRowsIn(*dataset, number, acked[number] - kRecordsBeforeRows);
  }
}

int64_t ProducersTest::Query(const char* sql) {
  const std::unique_ptr<storage::sql::Database> dataset = OpenDataset();
  return dataset == nullptr ? -1 : dataset->QueryInt(sql).value();
}

void ProducersTest::StopProducers() {
  std::ofstream(folder_ + "/stop").flush();
  for (const auto& [number, pid] : producers_) {
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "producer " << number << ", status " << status;
  }
  producers_.clear();
}

void ProducersTest::ExpectLedgersAreStoredOnce() {
  const std::unique_ptr<storage::sql::Database> dataset = OpenDataset();
  ASSERT_NE(dataset, nullptr);
  int64_t accepted = 0;
  for (int number = 0; number < kProducers; ++number) {
    const Ledger::Promises promised = Ledger::Read(LedgerPath(number));
    EXPECT_GT(promised.accepted, kRecordsBeforeRows);
    EXPECT_GE(promised.acked, promised.accepted) << "producer " << number;
    accepted += static_cast<int64_t>(promised.accepted - kRecordsBeforeRows);
    ExpectRowsIn(*dataset, number, promised.accepted - kRecordsBeforeRows);
  }
  // A producer that is killed between Append and the write to its ledger may have stored one batch that the ledger
  // lacks.
  EXPECT_GE(Query("SELECT count(*) FROM measurements"), accepted);
  EXPECT_EQ(Query("SELECT count(*) FROM attempts"), kProducers);
  EXPECT_EQ(Query("SELECT count(*) FROM producers WHERE client = 'fault-producer'"), kProducers);
  EXPECT_EQ(Query("SELECT count(*) FROM rejects"), 0);
  std::cout << accepted << " rows" << std::endl;
}

}  // namespace telemetry::faults
