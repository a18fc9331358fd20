#include "tests/faults/fault_test.h"

#include <fstream>
#include <sstream>

#include "absl/time/clock.h"
#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::faults {
namespace {

using bench::CollectorProcess;

int CountOccurrences(const std::string& text, const std::string& words) {
  int count = 0;
  for (size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
  return count;
}

}  // namespace

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

bool FaultTest::AwaitLog(const std::string& words, int times) {
  for (const absl::Time deadline = absl::Now() + kPatience; absl::Now() < deadline; absl::SleepFor(kLookInterval)) {
    if (CountOccurrences(LogText(), words) >= times) return true;
  }
  return false;
}

std::unique_ptr<storage::sql::Database> FaultTest::OpenFile(const std::string& path) {
  absl::StatusOr<storage::sqlite::SqliteDatabase> database =
      storage::sqlite::SqliteDatabase::Open(path, {.read_only = true, .vfs = ""});
  EXPECT_TRUE(database.ok()) << database.status();
  return database.ok() ? std::make_unique<storage::sqlite::SqliteDatabase>(*std::move(database)) : nullptr;
}

void FaultTest::ExpectEverythingStoredOnce() {
  StopProducers();
  EXPECT_EQ(collector_->Stop(), 0);
  ExpectLedgersAreStoredOnce();
  EXPECT_EQ(Query("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
}

}  // namespace telemetry::faults
