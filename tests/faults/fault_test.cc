#include "tests/faults/fault_test.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/storage/sqlite_database.h"
#include "server/storage/statement.h"

namespace telemetry::faults {
namespace {

using bench::CollectorProcess;

constexpr absl::Duration kLook = absl::Milliseconds(20);
constexpr absl::Duration kPatience = absl::Minutes(1);

unsigned Seed() {
  const char* text = std::getenv("TELEMETRY_SEED");
  return text == nullptr ? std::random_device()() : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

int CountOf(const std::string& text, const std::string& words) {
  int count = 0;
  for (size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
  return count;
}

}  // namespace

int Faults(int otherwise) {
  const char* text = std::getenv("TELEMETRY_FAULTS");
  return text == nullptr ? otherwise : std::atoi(text);
}

FaultTest::FaultTest() : seed_(Seed()), random_(seed_) {
  std::string pattern = (std::filesystem::temp_directory_path() / "telemetry-faults-XXXXXX").string();
  folder_ = mkdtemp(pattern.data());
  std::cout << "TELEMETRY_SEED=" << seed_ << std::endl;
}

FaultTest::~FaultTest() {
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

void FaultTest::StartCollector(const std::vector<std::string>& flags, const std::vector<std::string>& environment) {
  collector_ = std::make_unique<CollectorProcess>(CollectorProcess::Start(
      db(), {.port = port_, .flags = flags, .environment = environment, .log = File("collector.log")}));
  port_ = collector_->port();
  if (address_.empty()) address_ = collector_->address();
}

std::string FaultTest::LogText() const {
  std::ostringstream text;
  text << std::ifstream(File("collector.log"), std::ios::binary).rdbuf();
  return text.str();
}

void FaultTest::StartProducer(int number) {
  const std::string program = bench::ProgramPath("fault-producer");
  const std::string spool = absl::StrCat(folder_, "/spool-", number);
  const std::string ledger = LedgerOf(number);
  const std::string text = absl::StrCat(number);
  const std::string stop = File("stop");
  const pid_t pid = fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execl(program.c_str(), program.c_str(), address_.c_str(), spool.c_str(), ledger.c_str(), text.c_str(), stop.c_str(),
          static_cast<char*>(nullptr));
    _exit(127);
  }
  producers_[number] = pid;
}

void FaultTest::StartProducers() {
  for (int number = 0; number < kProducers; ++number) StartProducer(number);
}

void FaultTest::WaitForARandomMoment() {
  absl::SleepFor(absl::Microseconds(std::uniform_int_distribution<int>(0, 150'000)(random_)));
}

void FaultTest::KillProducer(int number) {
  kill(producers_[number], SIGKILL);
  int status = 0;
  waitpid(producers_[number], &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status)) << "producer " << number << " ended before: status " << WEXITSTATUS(status);
  StartProducer(number);
}

void FaultTest::AwaitProgress() {
  std::array<uint64_t, kProducers> before;
  for (int number = 0; number < kProducers; ++number) before[number] = AckedBy(number);
  const absl::Time deadline = absl::Now() + kPatience;
  for (int number = 0; number < kProducers; ++number) {
    while (AckedBy(number) == before[number]) {
      ASSERT_LT(absl::Now(), deadline) << "nothing of producer " << number << " is acknowledged";
      absl::SleepFor(kLook);
    }
  }
}

bool FaultTest::AwaitLog(const std::string& words, int times) {
  for (const absl::Time deadline = absl::Now() + kPatience; absl::Now() < deadline; absl::SleepFor(kLook)) {
    if (CountOf(LogText(), words) >= times) return true;
  }
  return false;
}

void FaultTest::ExpectAckedIsStored() {
  for (int number = 0; number < kProducers; ++number) {
    const uint64_t acked = AckedBy(number);
    if (acked > kRecordsBeforeRows) ExpectRows(number, acked - kRecordsBeforeRows);
  }
}

void FaultTest::ExpectRows(int number, uint64_t count) { ExpectRowsIn(db(), number, count); }

void FaultTest::ExpectRowsIn(const std::string& path, int number, uint64_t count) {
  absl::StatusOr<storage::SqliteDatabase> database =
      storage::SqliteDatabase::Open(path, {.read_only = true, .vfs = ""});
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

int64_t FaultTest::Query(const char* sql) {
  absl::StatusOr<storage::SqliteDatabase> database =
      storage::SqliteDatabase::Open(db(), {.read_only = true, .vfs = ""});
  EXPECT_TRUE(database.ok()) << database.status();
  return database.ok() ? database->QueryInt(sql).value() : -1;
}

void FaultTest::StopProducers() {
  std::ofstream(folder_ + "/stop").flush();
  for (const auto& [number, pid] : producers_) {
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "producer " << number << ", status " << status;
  }
  producers_.clear();
}

void FaultTest::ExpectEverythingStoredOnce() {
  StopProducers();
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
  EXPECT_EQ(Query("SELECT count(*) FROM producers WHERE client = 'fault-producer'"), kProducers);
  EXPECT_EQ(Query("SELECT count(*) FROM rejects"), 0);
  EXPECT_EQ(Query("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
  std::cout << accepted << " rows" << std::endl;
}

}  // namespace telemetry::faults
