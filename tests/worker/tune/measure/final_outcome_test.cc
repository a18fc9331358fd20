#include "worker/tune/measure/final_outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace telemetry::worker::tune::measure {
namespace {

using testing::ElementsAre;

wire::Outcome Took(double ms) {
  wire::Outcome outcome;
  outcome.set_perf_ms(ms);
  for (int i = 0; i < 10; ++i) outcome.add_samples_ms(ms);
  return outcome;
}

TEST(FinalOutcomeTest, TellsTheBestAndItsTies) {
  wire::Outcome failed;
  failed.mutable_failure()->set_phase("run");
  const FinalOutcome final = CompareOutcomes({failed, Took(1.001), Took(2), Took(1)}, /*interleaved=*/true);
  EXPECT_EQ(final.best, 3);
  EXPECT_THAT(final.tied_with_best, ElementsAre(false, true, false, true));
}

TEST(FinalOutcomeTest, ComparesMediansOfWhatWasNotTakenInTurns) {
  const FinalOutcome final = CompareOutcomes({Took(1), Took(1.004), Took(1.1)}, /*interleaved=*/false);
  EXPECT_EQ(final.best, 0);
  EXPECT_THAT(final.tied_with_best, ElementsAre(true, true, false));
}

}  // namespace
}  // namespace telemetry::worker::tune::measure
