// Measures the effect of attacks on a collector with well-behaved clients, each attack alone and then all together.
// Prints a row per attack with the collector's memory, descriptors and disk, and the clients' times to an Ack.
//
// The attackers connect from 127.0.0.0/8 and the well-behaved clients from ::1, like senders that do not trust each
// other.
//
// The attackers share the machine with the collector. At full size they run when nothing else does, and the times to an
// Ack are compared with those of identical clients of a second collector at the same time. The CPU time that an
// attacker needs therefore does not count as a delay of the collector. A short run has too few samples for this
// comparison. It only compares how many clients the two collectors serve in the same time, because other work of the
// machine delays both.

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "proto/base/steady.h"
#include "server/storage/sqlite/sqlite_database.h"
#include "tests/environment.h"
#include "tests/faults/attack_process.h"
#include "tests/faults/collector_usage.h"
#include "tests/faults/hostile_fixture.h"
#include "tests/faults/ledger.h"
#include "tests/faults/paced_client.h"
#include "tests/faults/stored_rows.h"

namespace telemetry::faults {
namespace {

// Only a test that fails waits as long as this.
constexpr absl::Duration kPatience = absl::Minutes(10);
// A new client waits too long after this time, if the collector without attackers serves this many new clients in the
// meantime.
constexpr absl::Duration kNewClientPatience = absl::Seconds(20);
constexpr int kPatienceInClients = 500;
// The well-behaved clients wait too long for kAcks Acks if those of the collector without attackers receive
// kPatienceInAcks in the meantime, which takes them 25 s at least.
constexpr uint64_t kAcks = 50;
constexpr uint64_t kPatienceInAcks = 5000;
constexpr char kAll[] = "all_at_once";

// The attacks that a test runs at the same time.
struct Scenario {
  std::string name;
  std::vector<Attack> attacks;
};

void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

std::vector<Scenario> Scenarios() {
  std::vector<Scenario> scenarios;
  for (const Attack& attack : AllAttacks()) scenarios.push_back({attack.name, {attack}});
  scenarios.push_back({kAll, AllAttacks()});
  return scenarios;
}

absl::Duration ScenarioTime(const Scenario& scenario) {
  if (scenario.name == kAll) {
    return absl::Seconds(NumberFromEnvironment("TELEMETRY_HOSTILE_SECONDS", 600));
  }
  // After the longest transactions the writer pauses for about 20 s. In a shorter time, one of them more or less would
  // decide.
  return absl::Seconds(FullSize() ? 40 : 2);
}

// The well-behaved clients of one collector.
class GoodClients {
 public:
  explicit GoodClients(const std::string& address) {
    for (int number = 0; number < 2; ++number) clients_.emplace_back(address, number);
  }

  std::vector<double> TakeTimesMs() {
    std::vector<double> all;
    for (PacedClient& client : clients_) {
      const std::vector<double> times = client.TakeTimesMs();
      all.insert(all.end(), times.begin(), times.end());
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  uint64_t Acknowledged() const {
    uint64_t count = 0;
    for (const PacedClient& client : clients_) count += client.acknowledged();
    return count;
  }
  size_t EndedStreams() const {
    size_t count = 0;
    for (const PacedClient& client : clients_) {
      const std::vector<std::string> ended = client.ended_streams();
      if (!ended.empty()) std::cout << ended.size() << " streams ended, the first with " << ended.front() << std::endl;
      count += ended.size();
    }
    return count;
  }
  std::deque<PacedClient>& clients() { return clients_; }

 private:
  std::deque<PacedClient> clients_;
};

// Checks that `good` receives Acks while `quiet` does.
void ExpectAcks(const GoodClients& good, const GoodClients& quiet) {
  const uint64_t enough = good.Acknowledged() + kAcks;
  const uint64_t too_many = quiet.Acknowledged() + kPatienceInAcks;
  const SteadyTime deadline = SteadyAfter(kPatience);
  while (good.Acknowledged() < enough) {
    ASSERT_LT(quiet.Acknowledged(), too_many) << "the well-behaved clients are not served";
    ASSERT_LT(SteadyNow(), deadline) << "no client is served";
    absl::SleepFor(absl::Milliseconds(10));
  }
}

// Serves a new client of the collector at `address` and returns the time until its Ack. Checks that the collector
// without attackers does not serve too many in the meantime.
absl::Duration ServeNewClientOf(const std::string& address, const std::string& idle_address) {
  const SteadyTime begin = SteadyNow();
  std::future<absl::Duration> served =
      std::async(std::launch::async, [&address] { return ServeNewClient(address, kPatience); });
  bool waits_too_long = false;
  for (int others = 0; served.wait_for(std::chrono::seconds(0)) != std::future_status::ready; ++others) {
    ServeNewClient(idle_address, kPatience);
    waits_too_long |= others >= kPatienceInClients && ElapsedSince(begin) >= kNewClientPatience;
  }
  EXPECT_FALSE(waits_too_long) << "a new client was not served in time";
  return served.get();
}

double Percentile99(const std::vector<double>& sorted) { return sorted.empty() ? 0 : sorted[sorted.size() * 99 / 100]; }

// One row of the table.
struct Cost {
  std::string attack;
  std::string done;  // the attackers' tallies
  double memory_mib = 0;
  size_t files = 0;
  double disk_mib = 0;
  double p99_ms = 0;
  double longest_ms = 0;
  double quiet_p99_ms = 0;  // of the clients of the collector without attackers
  size_t ended_streams = 0;
  absl::Duration served_after;
};

class HostileSuite : public HostileTest, public testing::WithParamInterface<Scenario> {
 protected:
  static void TearDownTestSuite() {
    std::cout << absl::StrFormat("%-20s %7s %6s %8s %8s %8s %8s %6s %8s  %s\n", "attack", "RSS MiB", "files",
                                 "disk MiB", "p99 ms", "quiet", "longest", "ended", "new ms", "done");
    for (const Cost& cost : costs_) {
      std::cout << absl::StrFormat("%-20s %7.0f %6d %8.1f %8.1f %8.1f %8.1f %6d %8.1f  %s\n", cost.attack,
                                   cost.memory_mib, cost.files, cost.disk_mib, cost.p99_ms, cost.quiet_p99_ms,
                                   cost.longest_ms, cost.ended_streams, absl::ToDoubleMilliseconds(cost.served_after),
                                   cost.done);
    }
    std::cout << std::flush;
  }

  static std::unique_ptr<bench::CollectorProcess> StartCollector(const std::string& folder) {
    std::filesystem::create_directory(folder);
    bench::CollectorOptions options;
    options.max_files = FullSize() ? 10'000 : 2'000;
    options.host = "[::]";
    options.flags = {"--insecure-beyond-loopback"};
    options.metrics = true;
    options.log = folder + ".log";
    return std::make_unique<bench::CollectorProcess>(bench::CollectorProcess::Start(folder + "/dataset.db", options));
  }

  // Returns the address that the well-behaved clients connect to.
  static std::string CollectorAddress(const bench::CollectorProcess& collector) {
    return absl::StrCat("[::1]:", collector.port());
  }

  // Runs the attacks for the configured time and sets the fields of `cost` that are then known.
  void Play(const Scenario& scenario, GoodClients& good, GoodClients& quiet, Cost* cost) {
    const CollectorUsage usage(collector_->pid(), data_);
    std::deque<AttackProcess> attackers;
    for (const Attack& attack : scenario.attacks) {
      const auto host = static_cast<uint32_t>(10 + attackers.size());
      attackers.emplace_back(attack, *collector_, host, folder_ + "/tally of " + attack.name);
    }
    // Among all attackers, some may never get a turn: the others use up the connections.
    const bool is_alone = attackers.size() == 1;
    if (is_alone) {
      EXPECT_TRUE(attackers[0].AwaitBegin()) << scenario.attacks[0].name << " does nothing";
    }
    good.TakeTimesMs();
    quiet.TakeTimesMs();
    absl::SleepFor(ScenarioTime(scenario));
    ExpectAcks(good, quiet);
    const std::vector<double> times_ms = good.TakeTimesMs();
    cost->quiet_p99_ms = Percentile99(quiet.TakeTimesMs());
    cost->p99_ms = Percentile99(times_ms);
    cost->longest_ms = times_ms.empty() ? 0 : times_ms.back();
    for (size_t i = 0; i < attackers.size(); ++i) {
      EXPECT_TRUE(attackers[i].Stop()) << scenario.attacks[i].name << " ended by itself";
      if (!is_alone) {
        std::cout << scenario.attacks[i].name << ": " << attackers[i].Done() << std::endl;
      } else {
        cost->done = attackers[i].Done();
      }
    }
    cost->files = usage.most_files();
    cost->disk_mib = static_cast<double>(usage.most_disk_bytes()) / (1 << 20);
  }

  // Checks that the dataset contains every acknowledged record.
  void ExpectStored(GoodClients& good) const {
    auto dataset = storage::sqlite::SqliteDatabase::Open(data_ + "/dataset.db", {.read_only = true, .vfs = ""});
    ASSERT_TRUE(dataset.ok()) << dataset.status();
    for (const PacedClient& client : good.clients()) {
      ASSERT_GT(client.acknowledged(), kRecordsBeforeRows);
      ExpectRowsIn(*dataset, client.number(), client.acknowledged() - kRecordsBeforeRows);
    }
  }

  static std::vector<Cost> costs_;
  const std::string data_ = folder_ + "/data";
};

std::vector<Cost> HostileSuite::costs_;

TEST_P(HostileSuite, OthersAreServedAndNothingIsLost) {
  if (!FullSize() && GetParam().name == kAll) GTEST_SKIP() << "takes more than ten minutes: set TELEMETRY_FAULTS=1000";
  collector_ = StartCollector(data_);
  const auto idle = StartCollector(folder_ + "/idle");
  Cost cost{.attack = GetParam().name};
  {
    GoodClients good(CollectorAddress(*collector_));
    GoodClients quiet(CollectorAddress(*idle));
    Play(GetParam(), good, quiet, &cost);
    cost.served_after = ServeNewClientOf(CollectorAddress(*collector_), CollectorAddress(*idle));
    for (PacedClient& client : good.clients()) EXPECT_TRUE(client.Finish(kPatience)) << "not all is acknowledged";
    cost.ended_streams = good.EndedStreams();
    cost.memory_mib = bench::PeakMib(collector_->pid());
    EXPECT_EQ(collector_->Stop(), 0);
    ExpectStored(good);
  }
  costs_.push_back(cost);
  EXPECT_LT(cost.memory_mib, kMemoryMib);
  // A short run has few samples, and a busy machine may delay those of only one collector.
  if (FullSize()) {
    EXPECT_LE(cost.p99_ms, 2 * cost.quiet_p99_ms);
  }
}

INSTANTIATE_TEST_SUITE_P(Attacks, HostileSuite, testing::ValuesIn(Scenarios()),
                         [](const auto& scenario) { return scenario.param.name; });

}  // namespace
}  // namespace telemetry::faults
