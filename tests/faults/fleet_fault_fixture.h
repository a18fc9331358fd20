// Three collectors on one PostgreSQL database, with producers that connect to another collector whenever they lose a
// connection.
#pragma once

#include <unistd.h>

#include <array>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <utility>
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

inline constexpr int kFleetCollectors = 3;

// Collectors of one PostgreSQL server behind a balancer, with producers and the faults that a test injects.
class FleetFaultTest : public ProducersTest {
 protected:
  FleetFaultTest() {
    for (int number = 0; number < kFleetCollectors; ++number) StartCollector(number, 0);
    std::vector<int> ports;
    for (const bench::CollectorProcess& collector : collectors_) ports.push_back(collector.port());
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

  void KillACollector() { KillTheCollector(RandomBelow(kFleetCollectors)); }

  void KillTheCollector(int number) {
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
    constexpr std::array kCuts = {proxy::CommitProxy::Cut::kBefore, proxy::CommitProxy::Cut::kMeanwhile,
                                  proxy::CommitProxy::Cut::kAfter};
    const int cuts = commits_.cuts();
    commits_.CutNext(kCuts[RandomBelow(kCuts.size())]);
    EXPECT_TRUE(commits_.AwaitCuts(cuts + 1, kPatience));
  }

  // Blocks until the query returns 0. Returns false if it does not within kPatience.
  bool AwaitNone(const char* query) {
    for (const absl::Time deadline = absl::Now() + kPatience; absl::Now() < deadline;) {
      if (Query(query) == 0) return true;
      absl::SleepFor(absl::Milliseconds(20));
    }
    return false;
  }

  // Stops the collectors, because their sessions end with them.
  void ExpectNoLockIsLeft() {
    EXPECT_TRUE(AwaitNone("SELECT count(*) FROM pg_locks WHERE NOT granted"));
    EXPECT_TRUE(AwaitNone("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"));
    for (bench::CollectorProcess& collector : collectors_) EXPECT_EQ(collector.Stop(), 0);
    EXPECT_TRUE(
        AwaitNone("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'autotune-telemetry' "
                  "AND pid <> pg_backend_pid()"));
    EXPECT_TRUE(AwaitNone("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"));
  }

 private:
  void StartCollector(int number, int port) {
    bench::CollectorProcess started =
        bench::CollectorProcess::Start(commits_.url(), {.port = port,
                                                        .flags = collector_flags_,
                                                        .environment = {},
                                                        .log = File(absl::StrCat("collector-", number, ".log"))});
    if (port == 0) {
      collectors_.push_back(std::move(started));
    } else {
      collectors_[number] = std::move(started);
    }
  }

 protected:
  PostgresqlServer server_{absl::StrCat("/tmp/telemetry-fleet-", getpid())};
  proxy::CommitProxy commits_{server_.url()};
  std::vector<std::string> collector_flags_;  // of collectors that are started from now on
  std::vector<bench::CollectorProcess> collectors_;
  std::unique_ptr<proxy::CuttingProxy> balancer_;
};

}  // namespace telemetry::faults
