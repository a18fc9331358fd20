#include "proto/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
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

}  // namespace
}  // namespace telemetry
