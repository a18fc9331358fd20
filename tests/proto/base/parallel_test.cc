#include "proto/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

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

// Each call's function and counter are gone when it has returned, also if another call keeps all helpers busy.
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

}  // namespace
}  // namespace telemetry
