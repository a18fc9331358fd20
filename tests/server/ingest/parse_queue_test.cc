#include "server/ingest/parse_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"

namespace telemetry::collector {
namespace {

using testing::ElementsAre;

constexpr uint64_t kRoom = 1000;

call::Limits LimitsWithRoom() {
  call::Limits limits;
  limits.waiting_bytes = kRoom;
  return limits;
}

// A queue with one thread, which is busy until Release() or the end of the test. Records the order of the other work.
class ParseQueueTest : public testing::Test {
 protected:
  ParseQueueTest() {
    EXPECT_TRUE(queue_
                    ->Run("occupant", 1,
                          [this] {
                            begun_.Notify();
                            release_.WaitForNotification();
                          })
                    .ok());
    begun_.WaitForNotification();
  }
  ~ParseQueueTest() override {
    if (!release_.HasBeenNotified()) release_.Notify();
  }

  absl::Status Run(const std::string& sender, uint64_t bytes) {
    return queue_->Run(sender, bytes, [this, sender] { order_.push_back(sender); });
  }
  // Ends the queue, after everything queued has run.
  void Finish() {
    release_.Notify();
    queue_.reset();
  }

  absl::Notification begun_;
  absl::Notification release_;
  std::vector<std::string> order_;  // used by the queue's thread
  std::optional<ingest::ParseQueue> queue_{std::in_place, 1, LimitsWithRoom(), [] { return true; }};
};

TEST_F(ParseQueueTest, SendersTakeTurns) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Run("many", 1).ok());
  ASSERT_TRUE(Run("one", 1).ok());
  ASSERT_TRUE(Run("another", 1).ok());
  Finish();
  EXPECT_THAT(order_, ElementsAre("many", "one", "another", "many", "many"));
}

TEST_F(ParseQueueTest, ASenderCannotUseAllTheRoom) {
  EXPECT_TRUE(Run("greedy", kRoom / 4 * 3).ok());
  EXPECT_EQ(Run("greedy", 1).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(Run("other", kRoom / 5).ok());
  EXPECT_EQ(Run("third", kRoom / 5).code(), absl::StatusCode::kResourceExhausted) << "there is no room for all";
}

TEST_F(ParseQueueTest, RoomIsFreeAgainAfterTheWork) {
  ASSERT_TRUE(Run("greedy", kRoom / 4 * 3).ok());
  absl::Notification greedy_is_done;
  ASSERT_TRUE(queue_->Run("next", 1, [&] { greedy_is_done.Notify(); }).ok());
  release_.Notify();
  greedy_is_done.WaitForNotification();
  EXPECT_TRUE(Run("greedy", kRoom / 4 * 3).ok());
}

TEST(ParseQueue, ParsesOnAnotherThread) {
  std::thread::id parser;
  {
    ingest::ParseQueue queue(1, call::Limits(), [] { return true; });
    ASSERT_TRUE(queue.Run("sender", 1, [&] { parser = std::this_thread::get_id(); }).ok());
  }
  EXPECT_NE(parser, std::thread::id());
  EXPECT_NE(parser, std::this_thread::get_id());
}

TEST(ParseQueue, TheCallerHelpsWhileNothingIsUrgent) {
  absl::Notification begun;
  absl::Notification go_on;
  std::thread::id second;
  ingest::ParseQueue queue(1, call::Limits(), [] { return false; });
  ASSERT_TRUE(queue
                  .Run("sender", 1,
                       [&] {
                         begun.Notify();
                         go_on.WaitForNotification();
                       })
                  .ok());
  begun.WaitForNotification();
  ASSERT_TRUE(queue.Run("sender", 1, [&] { second = std::this_thread::get_id(); }).ok());
  EXPECT_EQ(second, std::this_thread::get_id());
  go_on.Notify();
}

}  // namespace
}  // namespace telemetry::collector
