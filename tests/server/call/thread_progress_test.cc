#include "server/call/thread_progress.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

namespace telemetry::call {
namespace {

TEST(ThreadProgressTest, CountsTheCpuTimeSinceTheLastEvent) {
  ThreadProgress progress;
  std::atomic<int> step = 0;
  std::thread thread([&] {
    progress.AddEvent();
    while (step == 0) continue;
    progress.AddEvent();
    step = 2;
    while (step == 2) continue;
  });
  while (progress.SinceEvent(thread) < absl::Milliseconds(50)) std::this_thread::yield();
  step = 1;
  while (step == 1) std::this_thread::yield();
  EXPECT_LT(progress.SinceEvent(thread), absl::Milliseconds(50));
  step = 3;
  thread.join();
}

TEST(ThreadProgressTest, CountsNoTimeOfAThreadThatWaits) {
  ThreadProgress progress;
  absl::Notification computed;
  absl::Notification end;
  std::atomic<bool> compute = true;
  std::thread thread([&] {
    while (compute) continue;
    computed.Notify();
    end.WaitForNotification();
  });
  while (progress.SinceEvent(thread) < absl::Milliseconds(5)) std::this_thread::yield();
  compute = false;
  computed.WaitForNotification();
  // Ends once the time since the thread's last work is ten times as long as the work.
  while (progress.SinceEvent(thread) > absl::ZeroDuration()) std::this_thread::yield();
  end.Notify();
  thread.join();
}

}  // namespace
}  // namespace telemetry::call
