#include "client/backoff.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace telemetry::client {
namespace {

TEST(BackoffTest, TheBoundDoublesUpToTheCap) {
  Backoff backoff(absl::Milliseconds(50), absl::Milliseconds(300));
  for (const int bound_ms : {50, 100, 200, 300, 300, 300}) {
    const absl::Duration pause = backoff.Next();
    EXPECT_GE(pause, absl::ZeroDuration());
    EXPECT_LE(pause, absl::Milliseconds(bound_ms));
  }
}

TEST(BackoffTest, PausesAreSpreadOverTheWholeBound) {
  absl::Duration shortest = absl::InfiniteDuration();
  absl::Duration longest = absl::ZeroDuration();
  for (int i = 0; i < 1000; ++i) {
    const absl::Duration pause = Backoff(absl::Seconds(1), absl::Seconds(1)).Next();
    shortest = std::min(shortest, pause);
    longest = std::max(longest, pause);
  }
  EXPECT_LT(shortest, absl::Milliseconds(100));
  EXPECT_GT(longest, absl::Milliseconds(900));
}

TEST(BackoffTest, IsShortAgainAfterASuccess) {
  Backoff backoff(absl::Milliseconds(1), absl::Hours(1));
  for (int i = 0; i < 30; ++i) backoff.Next();
  backoff.Reset();
  EXPECT_LE(backoff.Next(), absl::Milliseconds(1));
}

}  // namespace
}  // namespace telemetry::client
