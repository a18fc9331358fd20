#include "server/call/call_queue.h"

#include <gmock/gmock.h>
#include <grpcpp/server.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"

namespace telemetry::collector {
namespace {

using ::testing::ElementsAre;

class CallQueueTest : public ::testing::Test {
 protected:
  CallQueueTest() {
    grpc::ServerBuilder builder;
    queue_.AddTo(builder);
    server_ = builder.BuildAndStart();
    queue_.Start();
  }
  ~CallQueueTest() override { Stop(); }

  void Stop() {
    server_->Shutdown();
    queue_.Stop();
  }

  access::Gate gate_{nullptr};
  net::ReceiveMeter meter_{uint64_t{1} << 20};
  call::RunningCalls calls_{gate_, meter_, {}};
  call::CallQueue queue_{calls_};
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(CallQueueTest, RunsPostedWorkInOrderOnOneThread) {
  // ThreadSanitizer recognises the lock, but not the notification.
  absl::Mutex mutex;
  std::vector<int> done;
  std::vector<std::thread::id> threads;
  absl::Notification all;
  for (int i = 0; i < 3; ++i) {
    queue_.Post([&, i] {
      {
        const absl::MutexLock lock(&mutex);
        done.push_back(i);
        threads.push_back(std::this_thread::get_id());
      }
      if (i == 2) all.Notify();
    });
  }
  all.WaitForNotification();
  const absl::MutexLock lock(&mutex);
  EXPECT_THAT(done, ElementsAre(0, 1, 2));
  EXPECT_NE(threads[0], std::this_thread::get_id());
  EXPECT_THAT(threads, ElementsAre(threads[0], threads[0], threads[0]));
}

TEST_F(CallQueueTest, RunsWorkThatAnEventPosts) {
  absl::Notification done;
  queue_.Post([&] { queue_.Post([&] { done.Notify(); }); });
  done.WaitForNotification();
}

TEST_F(CallQueueTest, IsStuckWhileItsThreadComputesWithoutAnEvent) {
  EXPECT_FALSE(queue_.IsStuck());
  std::atomic<bool> end = false;
  absl::Notification done;
  queue_.Post([&] {
    while (!end) continue;
    done.Notify();
  });
  while (!queue_.IsStuck()) std::this_thread::yield();
  end = true;
  done.WaitForNotification();
  // The event counts from the second call on, because it may come between the two.
  absl::Notification next;
  queue_.Post([&] { next.Notify(); });
  next.WaitForNotification();
  queue_.IsStuck();
  EXPECT_FALSE(queue_.IsStuck());
}

TEST_F(CallQueueTest, RunsWorkAtOnceAfterItsEnd) {
  Stop();
  std::thread::id thread;
  queue_.Post([&] { thread = std::this_thread::get_id(); });
  EXPECT_EQ(thread, std::this_thread::get_id());
}

}  // namespace
}  // namespace telemetry::collector
