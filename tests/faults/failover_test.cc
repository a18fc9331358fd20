// Tests a standby that becomes the primary while eight producers send, with synchronous and with asynchronous
// replication.

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "server/storage/postgresql/pg_database.h"
#include "tests/bench/bench_ingest/collector_process.h"
#include "tests/faults/producers_test.h"
#include "tests/postgresql/postgresql_server.h"

namespace telemetry::faults {
namespace {

using bench::CollectorProcess;
using storage::postgresql::PgDatabase;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kLoss[] = "the dataset has lost acknowledged records";

class FailoverTest : public ProducersTest {
 protected:
  FailoverTest() {
    address_ = collector_.address();
    pause_ms_ = 40;
  }

  std::unique_ptr<storage::sql::Database> OpenDataset() override {
    return Open(standby_is_primary_ ? standby_ : primary_);
  }

  static std::unique_ptr<PgDatabase> Open(const PostgresqlServer& server) {
    absl::StatusOr<std::unique_ptr<PgDatabase>> database = PgDatabase::Open(server.url());
    EXPECT_TRUE(database.ok()) << database.status();
    return database.ok() ? *std::move(database) : nullptr;
  }

  // Changes a setting of a running server.
  static void Set(const PostgresqlServer& server, const std::string& name, const std::string& value) {
    const std::unique_ptr<PgDatabase> database = Open(server);
    ASSERT_NE(database, nullptr);
    EXPECT_EQ(database->Execute(absl::StrCat("ALTER SYSTEM SET ", name, " = '", value, "'").c_str()), absl::OkStatus());
    EXPECT_EQ(database->Execute("DO 'BEGIN PERFORM pg_reload_conf(); END'"), absl::OkStatus());
  }

  // Blocks until the query on the primary returns `count`.
  void Await(const char* query, int64_t count) {
    for (const absl::Time deadline = absl::Now() + kPatience; Query(query) != count;) {
      ASSERT_LT(absl::Now(), deadline) << query;
      absl::SleepFor(kLookInterval);
    }
  }

  void FailOver() {
    primary_.Kill();
    standby_.Promote();
    standby_is_primary_ = true;
  }

  std::string CollectorLog() const {
    std::ifstream log(File("collector.log"));
    return {std::istreambuf_iterator<char>(log), {}};
  }

 private:
  bool standby_is_primary_ = false;

 protected:
  PostgresqlServer primary_{absl::StrCat("/tmp/telemetry-primary-", getpid())};
  PostgresqlServer standby_{absl::StrCat("/tmp/telemetry-standby-", getpid()), primary_};
  CollectorProcess collector_ = CollectorProcess::Start(primary_.UrlWith(standby_),
                                                        {.flags = {}, .environment = {}, .log = File("collector.log")});
};

TEST_F(FailoverTest, WithSynchronousReplicationNothingIsLost) {
  Set(primary_, "synchronous_standby_names", "*");
  Await("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'", 1);
  StartProducers();
  AwaitProgress();
  WaitForARandomMoment();
  FailOver();
  ExpectAckedIsStored();
  AwaitProgress();
  StopProducers();
  ExpectLedgersAreStoredOnce();
  EXPECT_THAT(CollectorLog(), Not(HasSubstr(kLoss)));
}

TEST_F(FailoverTest, WithoutItTheLossIsReportedAndProducersSendTheLostRecordsAgain) {
  StartProducers();
  AwaitProgress();
  // The standby receives nothing from now on.
  Set(standby_, "primary_conninfo", "");
  Await("SELECT count(*) FROM pg_stat_replication", 0);
  AwaitProgress();
  WaitForARandomMoment();
  FailOver();
  AwaitProgress();
  StopProducers();
  EXPECT_THAT(CollectorLog(), HasSubstr(kLoss));
  ExpectLedgersAreStoredOnce();
}

}  // namespace
}  // namespace telemetry::faults
