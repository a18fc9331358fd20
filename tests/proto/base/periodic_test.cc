#include "proto/base/periodic.h"

#include <gtest/gtest.h>

#include <atomic>

#include "absl/synchronization/blocking_counter.h"

namespace telemetry {
namespace {

TEST(Periodic, LooksAgainAndAgain) {
  absl::BlockingCounter looks(3);
  std::atomic<int> left = 3;
  const Periodic periodic(absl::Milliseconds(1), [&] {
    if (left.fetch_sub(1) > 0) looks.DecrementCount();
  });
  looks.Wait();
}

TEST(Periodic, EndsBeforeItsTime) {
  std::atomic<int> looks = 0;
  {
    const Periodic periodic(absl::InfiniteDuration(), [&] { ++looks; });
  }
  EXPECT_EQ(looks, 0);
}

}  // namespace
}  // namespace telemetry
