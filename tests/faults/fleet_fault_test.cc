// Tests three collectors on one PostgreSQL database, with eight producers that connect to another collector whenever
// they lose a connection: no record is lost, none is stored twice, and no session waits forever.
//
// TELEMETRY_FAULTS is the number of faults (default 100).

#include <signal.h>
#include <unistd.h>

#include <array>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/storage/postgresql/pg_database.h"
#include "tests/bench/bench_ingest/collector_process.h"
#include "tests/faults/producers_test.h"
#include "tests/postgresql/postgresql_server.h"
#include "tests/proxy/commit_proxy.h"
#include "tests/proxy/cutting_proxy.h"

namespace telemetry::faults {
namespace {

using bench::CollectorProcess;
using proxy::CommitProxy;

constexpr int kCollectors = 3;

class FleetFaultTest : public ProducersTest {
 protected:
  FleetFaultTest() {
    for (int number = 0; number < kCollectors; ++number) StartCollector(number, 0);
    std::vector<int> ports;
    for (const CollectorProcess& collector : collectors_) ports.push_back(collector.port());
    balancer_ = std::make_unique<proxy::CuttingProxy>(ports, seed_);
    address_ = balancer_->address();
    pause_ms_ = 40;
  }
  ~FleetFaultTest() override {
    if (HasFailure()) std::cout << "the server's log: cat " << File("collector-*.log") << std::endl;
  }

  std::unique_ptr<storage::sql::Database> OpenDataset() override {
    absl::StatusOr<std::unique_ptr<storage::postgresql::PgDatabase>> database =
        storage::postgresql::PgDatabase::Open(server_.url());
    EXPECT_TRUE(database.ok()) << database.status();
    return database.ok() ? *std::move(database) : nullptr;
  }

  int RandomBelow(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }

  void KillACollector() {
    const int number = RandomBelow(kCollectors);
    const int port = collectors_[number].port();
    collectors_[number].Kill();
    ExpectAckedIsStored();
    StartCollector(number, port);
  }

  void KillTheServer() {
    server_.Kill();
    WaitForARandomMoment();
    server_.Resume();
    ExpectAckedIsStored();
  }

  void CutACommit() {
    constexpr std::array kCuts = {CommitProxy::Cut::kBefore, CommitProxy::Cut::kMeanwhile, CommitProxy::Cut::kAfter};
    const int cuts = commits_.cuts();
    commits_.CutNext(kCuts[RandomBelow(kCuts.size())]);
    EXPECT_TRUE(commits_.AwaitCuts(cuts + 1, kPatience));
  }

  // Blocks until the query returns 0. Returns false if it does not within a minute.
  bool AwaitNone(const char* query) {
    for (const absl::Time deadline = absl::Now() + kPatience; absl::Now() < deadline;) {
      if (Query(query) == 0) return true;
      absl::SleepFor(absl::Milliseconds(20));
    }
    return false;
  }

 private:
  void StartCollector(int number, int port) {
    CollectorProcess started = CollectorProcess::Start(
        commits_.url(),
        {.port = port, .flags = {}, .environment = {}, .log = File(absl::StrCat("collector-", number, ".log"))});
    if (port == 0) {
      collectors_.push_back(std::move(started));
    } else {
      collectors_[number] = std::move(started);
    }
  }

 protected:
  PostgresqlServer server_{absl::StrCat("/tmp/telemetry-fleet-", getpid())};
  CommitProxy commits_{server_.url()};
  std::vector<CollectorProcess> collectors_;
  std::unique_ptr<proxy::CuttingProxy> balancer_;
};

TEST_F(FleetFaultTest, CollectorsAndTheServerDieAndCommitsAreCutOff) {
  StartProducers();
  std::array<int, 3> faults = {};
  for (int fault = 0; fault < Faults(100) && !HasFailure(); ++fault) {
    WaitForARandomMoment();
    const int kind = RandomBelow(3);
    kind == 0 ? KillACollector() : kind == 1 ? KillTheServer() : CutACommit();
    ++faults[kind];
    if (fault % 10 == 9) AwaitProgress();
  }
  std::cout << "collectors killed: " << faults[0] << ", servers killed: " << faults[1]
            << ", commits cut off: " << faults[2] << std::endl;
  balancer_->Behave();
  AwaitProgress();
  StopProducers();
  // Checked before the collectors stop, because their sessions end with them.
  EXPECT_TRUE(AwaitNone("SELECT count(*) FROM pg_locks WHERE NOT granted"));
  EXPECT_TRUE(AwaitNone("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"));
  for (CollectorProcess& collector : collectors_) EXPECT_EQ(collector.Stop(), 0);
  EXPECT_TRUE(
      AwaitNone("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'autotune-telemetry' "
                "AND pid <> pg_backend_pid()"));
  ExpectLedgersAreStoredOnce();
}

}  // namespace
}  // namespace telemetry::faults
