#include "server/dataset/fair_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"

namespace telemetry::collector {
namespace {

using ::testing::ElementsAre;

TEST(FairPool, AClientWhoseWorkBlocksLeavesHalfOfTheThreads) {
  absl::Notification release;
  dataset::FairPool pool({.threads = 4});
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(pool.Run("slow", [&] { release.WaitForNotification(); }));
  absl::BlockingCounter done(2);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(pool.Run("quick", [&] { done.DecrementCount(); }));
  done.Wait();
  release.Notify();
}

TEST(FairPool, ClientsTakeTurns) {
  std::vector<std::string> order;  // written by one thread after the other
  {
    absl::Notification release;
    dataset::FairPool pool({.threads = 1});
    pool.Run("first", [&] { release.WaitForNotification(); });
    for (int i = 0; i < 3; ++i) pool.Run("a", [&] { order.push_back("a"); });
    pool.Run("b", [&] { order.push_back("b"); });
    pool.Run("c", [&] { order.push_back("c"); });
    release.Notify();
  }
  EXPECT_THAT(order, ElementsAre("a", "b", "c", "a", "a"));
}

TEST(FairPool, AClientThatHoldsItsShareWaitsAndOthersDoNot) {
  absl::Notification ran;
  absl::Notification other;
  dataset::FairPool pool({.threads = 2, .held_bytes = 400});
  pool.Hold("full", 100);
  pool.Run("full", [&] { ran.Notify(); });
  pool.Run("other", [&] { other.Notify(); });
  other.WaitForNotification();
  EXPECT_FALSE(ran.HasBeenNotified());
  pool.Release("full", 100);
  ran.WaitForNotification();
}

TEST(FairPool, TooMuchWorkOfAClientIsRefused) {
  absl::Notification release;
  dataset::FairPool pool({.threads = 1, .most_waiting = 2});
  absl::Notification begun;
  pool.Run("a", [&] {
    begun.Notify();
    release.WaitForNotification();
  });
  begun.WaitForNotification();
  EXPECT_TRUE(pool.Run("a", [] {}));
  EXPECT_TRUE(pool.Run("a", [] {}));
  EXPECT_FALSE(pool.Run("a", [] {}));
  EXPECT_TRUE(pool.Run("b", [] {}));
  release.Notify();
}

}  // namespace
}  // namespace telemetry::collector
