#include "server/writer/expected_producers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace telemetry::writer {
namespace {

SteadyTime At(absl::Duration time) { return SteadyTime() + absl::ToChronoNanoseconds(time); }

TEST(ExpectedProducersTest, WaitsLongerForMany) {
  ExpectedProducers expected;
  EXPECT_EQ(expected.WaitWith(1), absl::ZeroDuration());
  for (int i = 0; i < 8; ++i) expected.Add(std::to_string(i), At(absl::ZeroDuration()));
  EXPECT_EQ(expected.WaitWith(0), ExpectedProducers::kLongestWait);
  EXPECT_EQ(expected.WaitWith(4), ExpectedProducers::kLongestWait / 2);
  EXPECT_EQ(expected.WaitWith(7), ExpectedProducers::kShortestWait);
  // A producer may have sent several batches.
  EXPECT_EQ(expected.WaitWith(9), ExpectedProducers::kShortestWait);
}

TEST(ExpectedProducersTest, ForgetsAProducerThatSendsNoMore) {
  ExpectedProducers expected;
  expected.Add("stays", At(absl::ZeroDuration()));
  expected.Add("leaves", At(absl::ZeroDuration()));
  expected.Add("stays", At(absl::Milliseconds(20)));
  expected.Forget(At(ExpectedProducers::kFor));
  EXPECT_EQ(expected.size(), 2);
  expected.Forget(At(ExpectedProducers::kFor + absl::Milliseconds(1)));
  EXPECT_EQ(expected.size(), 1);
}

// Producers that send 5 ms after each Ack, and a writer whose transactions take 1 ms. Returns the number of producers
// in each of the last transactions within 200 ms. `first_ms[i]` is the time of the first batch of producer i.
std::vector<size_t> Simulate(std::vector<double> first_ms) {
  constexpr double kLingerMs = 5;
  constexpr double kCommitMs = 1;
  ExpectedProducers expected;
  std::vector<double> sends = std::move(first_ms);
  std::vector<size_t> transactions;
  for (double now = 0; now < 200;) {
    now = std::max(now, *std::min_element(sends.begin(), sends.end()));
    expected.Forget(At(absl::Milliseconds(now)));
    const auto sent = [&sends](double time) {
      return static_cast<size_t>(std::count_if(sends.begin(), sends.end(), [time](double at) { return at <= time; }));
    };
    // The wait of WriterLoop::Gather.
    const auto gather = [&](absl::Duration wait) {
      const double until = now + absl::ToDoubleMilliseconds(wait);
      std::vector<double> sorted = sends;
      std::sort(sorted.begin(), sorted.end());
      const size_t all = std::min(expected.size(), sends.size());
      return all > 0 && sorted[all - 1] <= until ? std::max(now, sorted[all - 1]) : until;
    };
    double begin = gather(ExpectedProducers::kShortestWait);
    if (sent(begin) < expected.size()) begin = gather(expected.WaitWith(sent(begin)));
    size_t producers = 0;
    for (size_t i = 0; i < sends.size(); ++i) {
      if (sends[i] > begin) continue;
      ++producers;
      expected.Add(std::to_string(i), At(absl::Milliseconds(begin)));
      sends[i] = begin + kCommitMs + kLingerMs;
    }
    transactions.push_back(producers);
    now = begin + kCommitMs;
  }
  return {transactions.end() - 5, transactions.end()};
}

// With the same wait for all, groups that began 2 to 6 ms apart never met.
TEST(ExpectedProducersTest, GroupsThatSendAtDifferentTimesMeet) {
  for (const double apart : {1.5, 2.5, 3.0, 3.5, 4.0, 4.5, 5.5}) {
    for (const size_t late : {1, 2, 3, 5, 6, 7}) {
      std::vector<double> first(8, 0);
      std::fill_n(first.begin(), late, apart);
      EXPECT_EQ(Simulate(first), std::vector<size_t>(5, 8)) << late << " producers, " << apart << " ms later";
    }
  }
}

}  // namespace
}  // namespace telemetry::writer
