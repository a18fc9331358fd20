// Tests RunSuite: what an entry of a suite does for the next one.

#include "worker/tune/suite_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tests/worker/tune/tune_fixture.h"

namespace telemetry::worker::tune {
namespace {

constexpr int kConfigs = 4;
constexpr char kAhead[] = "generate ahead";
constexpr absl::Duration kPatience = absl::Seconds(60);

class SuiteRunnerTest : public testing::Test {
 protected:
  static SuiteEntry Softmax(const std::string& argument) {
    const kernels::LibraryKernel& kernel = **kernels::FindKernel("softmax");
    return {.kernel = &kernel, .problem = *kernels::ParseProblem(kernel, {argument})};
  }

  // Tunes the entries one after the other on the CPU's OpenCL device.
  std::vector<SuiteOutcome> Run(std::vector<SuiteEntry> entries) {
    suite_ = {.devices = {fixture_.device()->id()}, .entries = std::move(entries)};
    const auto session = TuneSession::Open(
        {.state_dir = absl::StrCat(fixture_.folder(), "/state"), .log_base = absl::StrCat(fixture_.folder(), "/log")});
    EXPECT_TRUE(session.ok()) << session.status();
    SuiteOptions options = {.tuner = fixture_.Options(kConfigs)};
    options.compiles_ahead = compiles_ahead_;
    options.tuner.processes.measure.on_step = [this](std::string_view name, std::string_view /*config*/,
                                                     SteadyTime begin, SteadyTime end) {
      absl::MutexLock lock(&mutex_);
      steps_.push_back({std::string(name), end - begin});
    };
    options.on_line = [this](const std::string& line) {
      if (compiles_ahead_ && absl::StrContains(line, "final: measuring") && finals_++ == 0) AwaitAhead();
    };
    const absl::StatusOr<std::vector<SuiteOutcome>> outcomes = RunSuite(**session, suite_, options);
    EXPECT_TRUE(outcomes.ok()) << outcomes.status();
    return outcomes.value_or(std::vector<SuiteOutcome>());
  }

  // In the first final, waits until the code of the next entry is generated, so that it is compiled, or being compiled,
  // when that entry begins.
  void AwaitAhead() {
    absl::MutexLock lock(&mutex_);
    const auto is_generated = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return Count(kAhead) == 1; };
    EXPECT_TRUE(mutex_.AwaitWithTimeout(absl::Condition(&is_generated), kPatience));
  }

  int Count(const std::string& name) const {
    return static_cast<int>(
        std::count_if(steps_.begin(), steps_.end(), [&](const Step& step) { return step.name == name; }));
  }

  // Returns the time for which each entry waited for the code of its default config, its first one: 0 if the code was
  // requested before.
  std::vector<absl::Duration> FirstCompilations() const {
    std::vector<absl::Duration> first;
    bool is_first = false;
    for (const Step& step : steps_) {
      if (step.name == "device") is_first = true;  // once for each entry, at its beginning
      if (step.name == "compile" && std::exchange(is_first, false)) first.push_back(absl::FromChrono(step.duration));
    }
    return first;
  }

  struct Step {
    std::string name;
    SteadyTime::duration duration;
  };

  TuneFixture fixture_;
  Suite suite_;
  std::optional<bool> compiles_ahead_;
  int finals_ = 0;
  absl::Mutex mutex_;
  std::vector<Step> steps_;  // in the order of their ends
};

TEST_F(SuiteRunnerTest, TheFirstConfigOfTheNextEntryIsCompiledDuringAFinal) {
  compiles_ahead_ = true;
  for (const SuiteOutcome& outcome : Run({Softmax("x=16x64:f32"), Softmax("x=16x96:f32")})) {
    ASSERT_TRUE(outcome.result.ok()) << outcome.result.status();
    EXPECT_TRUE(outcome.result->tuned.ranking.best.has_value());
    EXPECT_GE(recording::ConfigsRun(outcome.result->tuned.counters), kConfigs);
    // A row has the compile time of its code, also if the code was compiled ahead.
    for (const search::Trial& trial : outcome.result->tuned.results) EXPECT_GT(trial.compile_s, 0);
  }
  EXPECT_EQ(Count(kAhead), 1);
  const std::vector<absl::Duration> first = FirstCompilations();
  ASSERT_EQ(first.size(), 2u);
  EXPECT_GT(first[0], absl::ZeroDuration());
  EXPECT_EQ(first[1], absl::ZeroDuration());
}

TEST_F(SuiteRunnerTest, WhereTheDeviceIsTheCpuNothingIsCompiledDuringAFinal) {
  EXPECT_EQ(Run({Softmax("x=16x64:f32"), Softmax("x=16x96:f32")}).size(), 2u);
  EXPECT_EQ(Count(kAhead), 0);
}

TEST_F(SuiteRunnerTest, ASpecificationThatCannotBeReadFailsOnlyItself) {
  compiles_ahead_ = true;
  const std::vector<SuiteOutcome> outcomes =
      Run({Softmax("x=16x64:f32"), {.spec = "no such file"}, Softmax("x=16x96:f32")});
  ASSERT_EQ(outcomes.size(), 3u);
  EXPECT_TRUE(outcomes[0].result.ok()) << outcomes[0].result.status();
  EXPECT_TRUE(absl::IsNotFound(outcomes[1].result.status())) << outcomes[1].result.status();
  EXPECT_TRUE(outcomes[2].result.ok()) << outcomes[2].result.status();
}

}  // namespace
}  // namespace telemetry::worker::tune
