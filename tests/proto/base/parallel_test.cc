#include "proto/base/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"

namespace telemetry {
namespace {

TEST(ParallelTest, EachElementIsInOnePart) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{10}, size_t{1000}, size_t{1001}}) {
    std::vector<std::atomic<int>> visits(size);
    ForEachPart(size, 10, [&](size_t begin, size_t end) {
      EXPECT_EQ(begin % 10, 0u);
      EXPECT_LE(end - begin, 10u);
      for (size_t i = begin; i < end; ++i) ++visits[i];
    });
    for (const std::atomic<int>& count : visits) EXPECT_EQ(count, 1);
  }
}

TEST(ParallelTest, PartsMayHavePartsOfTheirOwn) {
  std::atomic<int> visits = 0;
  ForEachPart(50, 1, [&](size_t, size_t) {
    ForEachPart(50, 1, [&](size_t begin, size_t end) { visits += static_cast<int>(end - begin); });
  });
  EXPECT_EQ(visits, 2500);
}

TEST(ParallelTest, SeveralThreadsMayCallItAtOnce) {
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([] {
      for (int call = 0; call < 200; ++call) {
        std::vector<std::atomic<int>> visits(20);
        ForEachPart(visits.size(), 1, [&visits](size_t begin, size_t) { ++visits[begin]; });
        for (const std::atomic<int>& count : visits) EXPECT_EQ(count, 1);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

// A loop whose parts keep every other thread busy does not delay the caller of another loop, and its threads do not
// come back to that loop when they are free.
TEST(ParallelTest, ALoopEndsWhileAllOtherThreadsAreBusy) {
  const size_t threads = std::max(1U, std::thread::hardware_concurrency());
  absl::Notification may_end;
  absl::BlockingCounter started(static_cast<int>(threads));
  std::thread busy([&] {
    ForEachPart(threads, 1, [&](size_t, size_t) {
      started.DecrementCount();
      may_end.WaitForNotification();
    });
  });
  started.Wait();
  int visits = 0;  // not atomic: only this thread takes parts
  for (int call = 0; call < 1000; ++call) ForEachPart(4, 1, [&](size_t, size_t) { ++visits; });
  EXPECT_EQ(visits, 4000);
  may_end.Notify();
  busy.join();
  std::atomic<int> later = 0;
  ForEachPart(100, 1, [&](size_t, size_t) { ++later; });
  EXPECT_EQ(later, 100);
}

}  // namespace
}  // namespace telemetry
