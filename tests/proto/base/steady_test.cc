#include "proto/base/steady.h"

#include <gtest/gtest.h>

#include <thread>

namespace telemetry {
namespace {

TEST(SteadyAfter, CountsFromNow) {
  const SteadyTime before = SteadyNow();
  const SteadyTime after = SteadyAfter(absl::Hours(1));
  EXPECT_GE(after, before + std::chrono::hours(1));
  EXPECT_LE(after, SteadyNow() + std::chrono::hours(1));
}

TEST(SteadyAfter, WhatIsTooFarAwayIsNever) {
  EXPECT_EQ(SteadyAfter(absl::InfiniteDuration()), kNever);
  EXPECT_EQ(SteadyAfter(absl::Hours(24 * 365 * 400)), kNever);
}

TEST(SteadyAfter, WhatIsPastIsNow) {
  const SteadyTime after = SteadyAfter(-absl::InfiniteDuration());
  EXPECT_LE(after, SteadyNow());
}

TEST(SteadyCondition, SaysThatTheTimeIsOver) {
  absl::Mutex mutex;
  SteadyCondition condition;
  absl::MutexLock lock(&mutex);
  EXPECT_FALSE(condition.Await(mutex, SteadyAfter(absl::Milliseconds(1)), [] { return false; }));
  EXPECT_FALSE(condition.Await(mutex, kLongAgo, [] { return false; }));
}

TEST(SteadyCondition, NeedsNoTimeForWhatHolds) {
  absl::Mutex mutex;
  SteadyCondition condition;
  absl::MutexLock lock(&mutex);
  EXPECT_TRUE(condition.Await(mutex, kLongAgo, [] { return true; }));
}

TEST(SteadyCondition, WakesWhoWaitsForEver) {
  absl::Mutex mutex;
  SteadyCondition condition;
  bool changed = false;
  std::thread other([&] {
    absl::MutexLock lock(&mutex);
    changed = true;
    condition.NotifyAll();
  });
  {
    absl::MutexLock lock(&mutex);
    EXPECT_TRUE(condition.Await(mutex, kNever, [&] { return changed; }));
  }
  other.join();
}

}  // namespace
}  // namespace telemetry
