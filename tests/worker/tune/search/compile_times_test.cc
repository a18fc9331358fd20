#include "worker/tune/search/compile_times.h"

#include <gtest/gtest.h>

#include <cmath>

namespace telemetry::worker::tune::search {
namespace {

using codegen::CodeSize;

// The time of a compiler that needs a millisecond for each character.
double Seconds(const CodeSize& size) { return 1e-3 * size.characters; }

// The times of sources of 100 to 1,000 characters: the median is 0.55 s. The fastest config has the shortest.
CompileTimes Known(size_t count) {
  CompileTimes times;
  for (size_t i = 0; i < count; ++i) {
    const CodeSize size = {.characters = 100 + 900 * static_cast<double>(i) / static_cast<double>(count - 1),
                           .elements = 32};
    times.Add(size, Seconds(size));
  }
  times.SetBest({.characters = 100, .elements = 32});
  return times;
}

TEST(CompileTimesTest, CodeThatIsMuchLongerThanOthersIsNotWorthATrial) {
  CompileTimes times = Known(50);
  EXPECT_FALSE(times.IsTooLong({.characters = 550, .elements = 32}));
  EXPECT_FALSE(times.IsTooLong({.characters = 900, .elements = 32})) << "1.6 times the median";
  EXPECT_TRUE(times.IsTooLong({.characters = 1200, .elements = 32})) << "2.2 times the median";
}

TEST(CompileTimesTest, DecidesNothingBeforeSeveralTimesAreKnown) {
  const CodeSize huge = {.characters = 1e6, .elements = 1e4};
  EXPECT_FALSE(CompileTimes().IsTooLong(huge));
  EXPECT_FALSE(Known(CompileTimes::kLeastTimes - 1).IsTooLong(huge));
  EXPECT_TRUE(Known(CompileTimes::kLeastTimes).IsTooLong(huge));
}

TEST(CompileTimesTest, DecidesNothingBeforeAConfigHasRun) {
  CompileTimes times;
  for (int i = 0; i < 50; ++i) times.Add({.characters = 100}, i % 3 == 0 ? 1 : 0.01);
  EXPECT_FALSE(times.IsTooLong({.characters = 1e6}))
      << "the mean of sources of one size is much longer than their median";
}

TEST(CompileTimesTest, CodeLikeThatOfTheFastestConfigIsWorthIt) {
  CompileTimes times = Known(50);
  times.SetBest({.characters = 1200, .elements = 32});
  EXPECT_FALSE(times.IsTooLong({.characters = 1300, .elements = 32}));
  EXPECT_TRUE(times.IsTooLong({.characters = 1800, .elements = 32}));
}

TEST(CompileTimesTest, LearnsThatTheSizeDoesNotMatter) {
  CompileTimes times;
  for (int i = 0; i < 200; ++i) times.Add({.characters = 100.0 + 10 * i, .elements = 8.0 + i % 7}, 0.3);
  times.SetBest({.characters = 100, .elements = 8});
  EXPECT_FALSE(times.IsTooLong({.characters = 1e4, .elements = 32}));
}

// The elements of a warpgroup's product cost a compiler nothing.
TEST(CompileTimesTest, LearnsThatProductsOfWarpgroupsReplaceOtherCode) {
  CompileTimes times;
  for (int i = 0; i < 100; ++i) {
    const bool is_wgmma = i % 2 == 0;
    times.Add({.characters = 500, .elements = is_wgmma ? 128.0 : 8 + i, .wgmmas = is_wgmma ? 8.0 : 1},
              is_wgmma ? 0.2 : 0.02 * (8 + i));
  }
  times.SetBest({.characters = 500, .elements = 8});
  EXPECT_FALSE(times.IsTooLong({.characters = 500, .elements = 128, .wgmmas = 8}));
  EXPECT_TRUE(times.IsTooLong({.characters = 500, .elements = 128}));
}

TEST(CompileTimesTest, LearnsThatElementsMatter) {
  CompileTimes times;
  for (int i = 0; i < 100; ++i) {
    const CodeSize size = {.characters = 500, .elements = 10.0 + i};
    times.Add(size, 0.01 * size.elements);
  }
  times.SetBest({.characters = 500, .elements = 10});
  EXPECT_FALSE(times.IsTooLong({.characters = 500, .elements = 80}));
  EXPECT_TRUE(times.IsTooLong({.characters = 500, .elements = 200}));
}

}  // namespace
}  // namespace telemetry::worker::tune::search
