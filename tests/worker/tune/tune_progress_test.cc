#include "worker/tune/tune_progress.h"

#include <gtest/gtest.h>

namespace telemetry::worker::tune {
namespace {

TEST(TuneProgressTest, ABarSaysHowFarAndHowFast) {
  EXPECT_EQ(ProgressText(
                {.generation = 2, .done = 30, .proposed = 60, .best_ms = 0.0196, .configs_per_s = 3, .left_s = 10}, 10),
            "[=====>    ] gen 2  30/60  best 0.0196 ms  3.0 configs/s  10 s left");
  EXPECT_EQ(ProgressText({}, 4), "[>   ] gen 0  0/0");
  EXPECT_EQ(ProgressText({.generation = 3, .is_final = true, .done = 30, .proposed = 60, .left_s = 8}, 4),
            "[==> ] final  30/60  8 s left");
  EXPECT_EQ(ProgressText({.done = 2, .proposed = 2}, 4), "[====] gen 0  2/2");
}

TEST(TuneProgressTest, AGenerationIsALine) {
  EXPECT_EQ(
      SummaryText({.generation = 1, .elapsed_s = 12.4, .ok = 3, .error = 1, .times_ms = {0.0541, 0.0196, 0.0301}}),
      "[12s] Generation 1: ok=3 error=1 min=0.0196 mid=0.0301 max=0.0541");
  EXPECT_EQ(SummaryText({.generation = 0, .ok = 0, .timeout = 2}), "[0s] Generation 0: ok=0 timeout=2");
}

}  // namespace
}  // namespace telemetry::worker::tune
