#include "server/ingest/thread_pool.h"

#include <gtest/gtest.h>

#include <thread>

#include "absl/synchronization/notification.h"

namespace telemetry::collector {
namespace {

TEST(ThreadPool, RunsWorkOnTheCallersThreadWhenNoneIsIdle) {
  absl::Notification begun;
  absl::Notification go_on;
  std::thread::id first;
  std::thread::id second;
  {
    ingest::ThreadPool pool(1);
    pool.RunOnIdle([&] {
      first = std::this_thread::get_id();
      begun.Notify();
      go_on.WaitForNotification();
    });
    begun.WaitForNotification();
    pool.RunOnIdle([&] { second = std::this_thread::get_id(); });
    go_on.Notify();
  }
  EXPECT_NE(first, std::this_thread::get_id());
  EXPECT_EQ(second, std::this_thread::get_id());
}

}  // namespace
}  // namespace telemetry::collector
