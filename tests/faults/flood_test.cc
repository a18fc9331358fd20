// Tests floods of more connections than the collector may open files: established streams continue and new clients are
// served.

#include "tests/faults/attacks/flood.h"

#include <atomic>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/faults/attacks/raw_http2.h"
#include "tests/faults/collector_usage.h"
#include "tests/faults/hostile_fixture.h"

namespace telemetry::faults {
namespace {

class FloodTest : public HostileTest {
 protected:
  uint64_t MaxFiles() const { return FullSize() ? 10'000 : 400; }
  int Connections() const { return FullSize() ? 12'000 : 800; }

  void ExpectServed(const std::string& when) {
    const absl::Duration took = ServeNewClient(collector_->address(), absl::Seconds(20));
    std::cout << when << ": served after " << took << ", " << OpenFiles(collector_->pid()) << " files, "
              << bench::ResidentMib(collector_->pid()) << " MiB" << std::endl;
  }

  // Checks that the stream of a well-behaved client continues at the start of a flood, during it and after it, and that
  // new clients are served.
  void PlayFlood(uint32_t host, const std::string& words) {
    Start({}, MaxFiles());
    auto client = std::make_unique<GoodClient>(collector_->address());
    GoodClient& good = *client;
    const int batches = FullSize() ? 300 : 50;
    good.P99Ms(20);
    const double before_ms = good.P99Ms(batches);
    {
      Flood flood(port(), host, words);
      std::atomic<bool> is_over = false;
      std::thread connects([&] {
        constexpr int kParts = 10;
        for (int i = 0; i < kParts; ++i) {
          flood.Connect(Connections() / kParts);
          if (FullSize()) absl::SleepFor(absl::Milliseconds(100));
        }
        is_over = true;
      });
      const double during_ms = good.P99Ms(batches);
      std::cout << "p99 " << before_ms << " ms before, " << during_ms << " ms during the flood, "
                << (is_over ? "which was over" : "which went on") << std::endl;
      connects.join();
      ExpectServed("while the flood stays");
      std::cout << "p99 " << good.P99Ms(batches) << " ms while it stays" << std::endl;
    }
    ExpectServed("after the flood");
    EXPECT_TRUE(good.Send()) << "an established stream ended";
    const uint64_t acknowledged = good.acknowledged();
    client.reset();
    EXPECT_GE(GoodClient(collector_->address()).acknowledged(), acknowledged) << "is stored";
    EXPECT_LT(bench::PeakMib(collector_->pid()), kMemoryMib);
    EXPECT_EQ(collector_->Stop(), 0);
  }
};

TEST_F(FloodTest, OfConnectionsThatSayNothing) { PlayFlood(1, ""); }

TEST_F(FloodTest, OfConnectionsThatTalkFromAnotherAddress) { PlayFlood(2, RawConnection::Preface()); }

// Connections that were closed before they were handed over to gRPC: none of their calls is unfinished for long.
TEST_F(FloodTest, OfCallsThatAreAbandoned) {
  constexpr uint32_t kHost = 2;
  constexpr int kPatience = 50;
  Start({}, MaxFiles());
  GoodClient good(collector_->address());
  const std::string burst = RawConnection::CallBurst(kIngest, 30);
  int rounds = 0;
  for (bool is_reset = false; !is_reset && rounds < kPatience; ++rounds) {
    // The address has a turn every 10 ms. Those that wait before the bursts give the bursts time to be closed.
    std::vector<RawConnection> first;
    for (int i = 0; i < 6; ++i) first.emplace_back(port(), kHost).SendPreface();
    for (int i = 0; i < 12; ++i) RawConnection(port(), kHost).SendRaw(burst);
    is_reset = first.back().AwaitEnd(1, absl::Milliseconds(300));
  }
  std::cout << "the address is refused after " << rounds << " rounds" << std::endl;
  EXPECT_LT(rounds, kPatience) << "the address of the flood may still connect";
  EXPECT_TRUE(good.Send()) << "an established stream ended";
  ExpectServed("after the flood");
}

// Each call is cancelled right after its headers, so that the connection has few unfinished calls at any time. gRPC
// would read the calls as long as more of them come, and keep all other connections waiting.
TEST_F(FloodTest, OfCallsThatAreReset) {
  constexpr uint32_t kHost = 2;
  constexpr uint32_t kCalls = 100;
  constexpr uint32_t kMostCalls = 300'000;
  constexpr double kMostMib = 128;
  Start({}, MaxFiles());
  GoodClient good(collector_->address());
  RawConnection connection(port(), kHost);
  connection.SendPreface();
  uint32_t calls = 0;
  while (calls < kMostCalls && connection.SendRaw(RawConnection::ResetCalls(kIngest, calls, kCalls))) calls += kCalls;
  std::cout << "the connection ended after " << calls << " calls" << std::endl;
  EXPECT_LT(calls, kMostCalls) << "the connection was not ended";
  EXPECT_TRUE(good.Send()) << "an established stream ended";
  ExpectServed("after the flood");
  EXPECT_LT(bench::PeakMib(collector_->pid()), kMostMib) << "of calls that gRPC read at once";
}

}  // namespace
}  // namespace telemetry::faults
