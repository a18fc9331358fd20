#include "worker/tune/measure/final_ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace telemetry::worker::tune {
namespace {

using testing::ElementsAre;

MeasureOutcome Took(double ms) { return {.perf_ms = ms, .samples_ms = std::vector<double>(10, ms)}; }

TEST(FinalRankingTest, TellsTheBestAndItsTies) {
  const MeasureOutcome failed = {.failure = MeasureFailure{.phase = "run"}};
  const FinalOutcome final = RankFinal({failed, Took(1.001), Took(2), Took(1)}, /*interleaved=*/true);
  EXPECT_EQ(final.best, 3);
  EXPECT_THAT(final.tied_with_best, ElementsAre(false, true, false, true));
}

TEST(FinalRankingTest, ComparesMediansOfWhatWasNotTakenInTurns) {
  const FinalOutcome final = RankFinal({Took(1), Took(1.004), Took(1.1)}, /*interleaved=*/false);
  EXPECT_EQ(final.best, 0);
  EXPECT_THAT(final.tied_with_best, ElementsAre(true, true, false));
}

}  // namespace
}  // namespace telemetry::worker::tune
