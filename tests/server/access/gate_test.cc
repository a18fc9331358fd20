#include "server/access/gate.h"

#include <gtest/gtest.h>

namespace telemetry::access {
namespace {

// Tests the log limit of the gate. The tests in tests/server/collector check the gate itself with a server.

TEST(LogLimit, LeavesOutWhatFloodsAndSaysHowMuch) {
  LogLimit limit;
  const SteadyTime now = SteadyNow();
  uint64_t left_out = 0;
  int written = 0;
  for (int i = 0; i < 1000; ++i) written += limit.Take(now, &left_out) ? 1 : 0;
  EXPECT_EQ(written, 10);
  EXPECT_TRUE(limit.Take(now + std::chrono::seconds(1), &left_out));
  EXPECT_EQ(left_out, 990u);
  EXPECT_TRUE(limit.Take(now + std::chrono::seconds(2), &left_out));
  EXPECT_EQ(left_out, 0u);
}

}  // namespace
}  // namespace telemetry::access
