#include "worker/tune/measure_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"

namespace telemetry::worker::tune {
namespace {

using measure::wire::Outcome;
using testing::ElementsAre;

constexpr double kNone = std::numeric_limits<double>::infinity();

codegen::Config ConfigOf(int n) { return *codegen::Config::Parse("Config(n=" + std::to_string(n) + ")"); }

CompiledCandidate CandidateOf(int n) {
  return {.candidate = std::make_shared<const Candidate>(Candidate{.config = ConfigOf(n), .generated = {}}),
          .result = {},
          .ended = {}};
}

Outcome TimeOf(double ms) {
  Outcome outcome;
  outcome.set_perf_ms(ms);
  return outcome;
}

void DoNothing() {}

TEST(MeasureLineTest, MeasuresInOrderAndKnowsTheBestTimeAndTheNextCandidate) {
  std::vector<double> best;
  std::vector<bool> has_next;
  absl::Notification filled;
  std::atomic<int> results = 0;
  MeasureLine line(
      2,
      [&](const CompiledCandidate& /*candidate*/, double best_ms, const std::optional<CompiledCandidate>& next) {
        filled.WaitForNotification();
        best.push_back(best_ms);
        has_next.push_back(next.has_value());
        return TimeOf(5.0 - static_cast<double>(best.size()));
      },
      [&] { ++results; });
  for (int n = 0; n < 3; ++n) line.Add(CandidateOf(n));
  EXPECT_EQ(line.size(), 3u);
  EXPECT_FALSE(line.Take().has_value());
  filled.Notify();
  for (int n = 0; n < 3; ++n) {
    const MeasureLine::Result result = line.Await();
    EXPECT_EQ(result.candidate.candidate->config, ConfigOf(n));
    EXPECT_EQ(result.outcome->perf_ms(), 4.0 - n);
  }
  EXPECT_EQ(line.size(), 0u);
  line.NoteTime(1);
  line.Add(CandidateOf(3));
  line.Await();
  EXPECT_THAT(best, ElementsAre(kNone, 4, 3, 1));
  EXPECT_FALSE(has_next.back());
  EXPECT_GE(results, 3);
}

TEST(MeasureLineTest, GoesOnBeforeAResultIsTaken) {
  absl::Notification second;
  MeasureLine line(
      1,
      [&](const CompiledCandidate& candidate, double, const std::optional<CompiledCandidate>&) {
        if (candidate.candidate->config == ConfigOf(1)) second.Notify();
        return Outcome();
      },
      DoNothing);
  for (int n = 0; n < 2; ++n) line.Add(CandidateOf(n));
  second.WaitForNotification();
  EXPECT_EQ(line.Await().candidate.candidate->config, ConfigOf(0));
}

// A line whose measurements wait for the test.
class HeldLine {
 public:
  explicit HeldLine(size_t most_waiting)
      : line_(
            most_waiting,
            [this](const CompiledCandidate&, double, const std::optional<CompiledCandidate>&) {
              if (!begun_.HasBeenNotified()) begun_.Notify();
              released_.WaitForNotification();
              return Outcome();
            },
            DoNothing) {}
  ~HeldLine() { Release(); }

  // Adds a candidate and waits until its measurement has begun.
  void Begin() {
    line_.Add(CandidateOf(0));
    begun_.WaitForNotification();
  }
  void Release() {
    if (!released_.HasBeenNotified()) released_.Notify();
  }
  MeasureLine& line() { return line_; }

 private:
  absl::Notification begun_;
  absl::Notification released_;
  MeasureLine line_;
};

TEST(MeasureLineTest, HasRoomForThoseThatMayWait) {
  HeldLine held(1);
  EXPECT_TRUE(held.line().HasRoom());
  held.Begin();
  EXPECT_TRUE(held.line().HasRoom());
  held.line().Add(CandidateOf(1));
  EXPECT_FALSE(held.line().HasRoom());
}

TEST(MeasureLineTest, ALineWithoutWaitingTakesOneAtATime) {
  HeldLine held(0);
  held.Begin();
  EXPECT_FALSE(held.line().HasRoom());
  held.Release();
  held.line().Await();
  EXPECT_TRUE(held.line().HasRoom());
}

TEST(MeasureLineTest, OnlyThoseThatWaitAreDropped) {
  HeldLine held(2);
  held.Begin();
  for (int n = 1; n < 3; ++n) held.line().Add(CandidateOf(n));
  held.line().DropWaiting();
  EXPECT_EQ(held.line().size(), 1u);
  held.Release();
  EXPECT_EQ(held.line().Await().candidate.candidate->config, ConfigOf(0));
  EXPECT_EQ(held.line().size(), 0u);
}

TEST(MeasureLineTest, TheErrorOfAMeasurementIsItsResult) {
  MeasureLine line(
      1,
      [](const CompiledCandidate&, double, const std::optional<CompiledCandidate>&)
          -> absl::StatusOr<measure::wire::Outcome> { return absl::UnavailableError("no process"); },
      DoNothing);
  line.Add(CandidateOf(0));
  EXPECT_EQ(line.Await().outcome.status(), absl::UnavailableError("no process"));
}

}  // namespace
}  // namespace telemetry::worker::tune
