// Tests RunSuite: which entry of a suite runs when.

#include "worker/tune/suite_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tests/worker/tune/tune_fixture.h"

namespace telemetry::worker::tune {
namespace {

using testing::Contains;
using testing::Not;

constexpr int kConfigs = 4;
constexpr char kFirst[] = "x=16x64:f32";
constexpr char kSecond[] = "x=16x96:f32";
constexpr absl::Duration kPatience = absl::Seconds(60);

class SuiteRunnerTest : public testing::Test {
 protected:
  // Tunes softmax with these arguments, one after the other, on the CPU's OpenCL device.
  std::vector<SuiteOutcome> Run(const std::vector<std::string>& arguments) {
    suite_ = {.devices = {fixture_.device()->id()}};
    const kernels::LibraryKernel& kernel = **kernels::FindKernel("softmax");
    for (const std::string& argument : arguments) {
      suite_.entries.push_back({.kernel = &kernel, .problem = *kernels::ParseProblem(kernel, {argument})});
    }
    const auto session = TuneSession::Open(
        {.state_dir = absl::StrCat(fixture_.folder(), "/state"), .log_base = absl::StrCat(fixture_.folder(), "/log")});
    EXPECT_TRUE(session.ok()) << session.status();
    SuiteOptions options = {.tuner = fixture_.Options(kConfigs)};
    options.begins_early = begins_early_;
    options.tuner.processes.measure.on_step = [this](std::string_view step, std::string_view /*config*/,
                                                     SteadyTime /*begin*/, SteadyTime /*end*/) { AddStep(step); };
    options.on_line = [this](const std::string& line) { OnLine(line); };
    const absl::StatusOr<std::vector<SuiteOutcome>> outcomes = RunSuite(**session, suite_, options);
    EXPECT_TRUE(outcomes.ok()) << outcomes.status();
    return outcomes.value_or(std::vector<SuiteOutcome>());
  }

  void AddStep(std::string_view step) {
    absl::MutexLock lock(&mutex_);
    steps_.emplace_back(step);
  }

  // During the first final, waits until the second entry is ready to measure, if it should be.
  void OnLine(const std::string& line) {
    if (!absl::StrContains(line, kFirst) || !absl::StrContains(line, "final: measuring") || begun_at_final_ != 0)
      return;
    absl::MutexLock lock(&mutex_);
    const auto are_ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return Count("reference") == 2; };
    if (expects_both_) mutex_.AwaitWithTimeout(absl::Condition(&are_ready), kPatience);
    begun_at_final_ = Count("device");
  }

  // The steps so far with this name. Each entry opens the device once, at its beginning.
  int Count(const std::string& step) const { return static_cast<int>(std::count(steps_.begin(), steps_.end(), step)); }

  std::vector<std::string>::iterator BeginOfSecond() {
    return std::find(std::find(steps_.begin(), steps_.end(), "device") + 1, steps_.end(), "device");
  }

  TuneFixture fixture_;
  Suite suite_;
  std::optional<bool> begins_early_;
  bool expects_both_ = false;
  absl::Mutex mutex_;
  std::vector<std::string> steps_;  // in the order of their ends
  int begun_at_final_ = 0;          // entries
};

TEST_F(SuiteRunnerTest, TheNextEntryBeginsDuringAFinalAndMeasuresAfterIt) {
  begins_early_ = true;
  expects_both_ = true;
  for (const SuiteOutcome& outcome : Run({kFirst, kSecond})) {
    ASSERT_TRUE(outcome.result.ok()) << outcome.result.status();
    EXPECT_TRUE(outcome.result->tuned.ranking.best.has_value());
    EXPECT_GE(recording::ConfigsRun(outcome.result->tuned.counters), kConfigs);
  }
  EXPECT_EQ(begun_at_final_, 2);
  const auto second = BeginOfSecond();
  const auto end = std::find(second, steps_.end(), "final");
  EXPECT_THAT(std::vector<std::string>(second, end), Not(Contains("image"))) << "the inputs are given to a process";
  EXPECT_THAT(std::vector<std::string>(end, steps_.end()), Contains("image"));
}

TEST_F(SuiteRunnerTest, WhereTheProcessorsAreTheDeviceEntriesBeginOneAfterTheOther) {
  EXPECT_EQ(Run({kFirst, kSecond}).size(), 2u);
  EXPECT_EQ(begun_at_final_, 1);
  EXPECT_THAT(std::vector<std::string>(steps_.begin(), BeginOfSecond()), Contains("final"));
}

TEST_F(SuiteRunnerTest, AFurtherAttemptAtARunBeginsOnceTheFirstHasEnded) {
  begins_early_ = true;
  const std::vector<SuiteOutcome> outcomes = Run({kFirst, kFirst});
  EXPECT_EQ(begun_at_final_, 1);
  ASSERT_EQ(outcomes.size(), 2u);
  ASSERT_TRUE(outcomes[1].result.ok()) << outcomes[1].result.status();
  EXPECT_LT(recording::ConfigsRun(outcomes[1].result->tuned.counters), kConfigs) << "it confirms what the first found";
}

}  // namespace
}  // namespace telemetry::worker::tune
