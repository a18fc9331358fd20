#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "tests/worker/tune/measure/measure_fixture.h"

namespace telemetry::worker::tune::measure {
namespace {

class FinalTest : public MeasureTest {
 protected:
  void SetUp() override { Start(DoublingProblem(2)); }

  FinalOutcome Final(const std::vector<std::string>& bodies, int rounds = 5) {
    std::vector<MeasureRequest> requests;
    requests.reserve(bodies.size());
    for (const std::string& body : bodies) requests.push_back(RequestFor(body));
    return measurer_->MeasureInterleaved(requests, {.rounds = rounds}).value();
  }

  static constexpr char kSlow[] =
      "float y = x[i]; for (int n = 0; n < 30000; ++n) y = y * 0.5f + x[i] * 0.5f + 1.0e-30f * n;"
      "out[i] = 2.0f * x[i] + (y == 12345.678f ? 1.0f : 0.0f);";
};

TEST_F(FinalTest, TheFastestWins) {
  const FinalOutcome final = Final({kSlow, kRight, kRight});
  ASSERT_EQ(final.outcomes.size(), 3u);
  for (const wire::Outcome& outcome : final.outcomes) {
    ASSERT_TRUE(outcome.has_perf_ms()) << outcome.failure().message();
    EXPECT_EQ(outcome.samples_ms_size(), 5);
  }
  EXPECT_NE(final.best, 0);
  EXPECT_FALSE(final.tied_with_best[0]);
  EXPECT_TRUE(final.tied_with_best[static_cast<size_t>(final.best)]);
}

TEST_F(FinalTest, WhatIsRightByChanceDoesNotWin) {
  const std::string by_chance = "out[i] = 2.0f * (i + 1);";
  EXPECT_TRUE(Measure(by_chance).has_perf_ms()) << "right on the first data set";
  const FinalOutcome final = Final({by_chance, kRight});
  EXPECT_EQ(final.best, 1);
  EXPECT_EQ(final.outcomes[0].failure().error_class(), "WrongResult");
  EXPECT_FALSE(final.tied_with_best[0]);
  ExpectThatTheNextIsMeasuredRight();
}

// Starts the measurer with a problem whose last data set is `last`, which follows later.
class LateDataTest : public FinalTest {
 protected:
  void SetUp() override {
    MeasureProblem problem = DoublingProblem(1);
    problem.last = last_.get_future().share();
    Start(problem);
  }

  std::promise<absl::StatusOr<DataSet>> last_;
};

TEST_F(LateDataTest, OnlyTheFinalWaitsForTheLastDataSet) {
  const std::string by_chance = "out[i] = 2.0f * (i + 1);";
  EXPECT_TRUE(Measure(by_chance).has_perf_ms()) << "right on the first data set";
  last_.set_value(DoublingProblem(2).data_sets[1]);
  const FinalOutcome final = Final({by_chance, kRight});
  EXPECT_EQ(final.best, 1);
  EXPECT_EQ(final.outcomes[0].failure().error_class(), "WrongResult");
  ExpectThatTheNextIsMeasuredRight();
}

TEST_F(LateDataTest, ALastDataSetThatCannotBeMadeEndsTheFinal) {
  last_.set_value(absl::ResourceExhaustedError("no memory"));
  EXPECT_EQ(measurer_->MeasureInterleaved({RequestFor(kRight)}, {.rounds = 5}).status(),
            absl::ResourceExhaustedError("no memory"));
}

TEST_F(FinalTest, WhatEndsTheProcessIsFoundAndTheOthersGoOn) {
  // The access is illegal on the second data set only.
  const std::string crash = "out[x[kSecond] == 1.25f ? (long)i + ((long)1 << 42) : (long)i] = 2.0f * x[i];";
  std::string body = crash;
  body.replace(body.find("kSecond"), 7, "1");
  EXPECT_TRUE(Measure(body).has_perf_ms());
  const FinalOutcome final = Final({kRight, body, kRight});
  EXPECT_TRUE(final.outcomes[0].has_perf_ms());
  EXPECT_TRUE(final.outcomes[2].has_perf_ms());
  EXPECT_EQ(final.outcomes[1].failure().error_class(), IsCuda() ? "IllegalAddress" : "Crash");
  EXPECT_NE(final.best, 1);
  ExpectThatTheNextIsMeasuredRight();
}

TEST_F(FinalTest, NobodyWinsWhereNobodyIsRight) {
  const FinalOutcome final = Final({"out[i] = 0.0f;"});
  EXPECT_EQ(final.best, -1);
  EXPECT_THAT(final.tied_with_best, testing::ElementsAre(false));
  EXPECT_EQ(Final({}).best, -1);
}

}  // namespace
}  // namespace telemetry::worker::tune::measure
