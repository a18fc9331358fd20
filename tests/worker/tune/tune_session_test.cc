// Tests TuneSession: what later attempts at a run make of earlier ones.

#include "worker/tune/tune_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/worker/tune/tune_fixture.h"
#include "worker/tune/earlier_search.h"

namespace telemetry::worker::tune {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr int kSearched = 8;

std::vector<codegen::Config> ConfigsOf(const std::vector<search::Trial>& trials) {
  std::vector<codegen::Config> configs;
  for (const search::Trial& trial : trials) configs.push_back(trial.config);
  return configs;
}

class TuneSessionTest : public testing::Test {
 protected:
  ~TuneSessionTest() override { fs::remove_all(folder_); }

  // Runs an attempt in a session of its own, as the next process does.
  TaskResult Tune(const AttemptRules& rules = {}) {
    notices_.clear();
    absl::StatusOr<std::unique_ptr<TuneSession>> session = TuneSession::Open({.state_dir = (folder_ / "state").string(),
                                                                              .log_base = (folder_ / "log").string(),
                                                                              .begin_with_known = begins_with_known_,
                                                                              .predict = predict_});
    EXPECT_TRUE(session.ok()) << session.status();
    LibrarySubject subject = fixture_.Subject();
    TunerOptions tuner = fixture_.Options(kSearched);
    device_ = subject.bound->device()->properties();
    tuner.search.algorithm = algorithm_;
    tuner.on_notice = [this](const std::string& text) { notices_ += text + "\n"; };
    if (spoil_) {
      tuner.generate = [this, kernel = subject.bound](const codegen::Config& config) {
        return spoil_(*kernel, config);
      };
    }
    options_text_ = JournalName(subject.info.run.run_id(), tuner, begins_with_known_);
    absl::StatusOr<TaskResult> result = (*session)->Tune(subject.subject, std::move(subject.info), tuner, rules);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *std::move(result) : TaskResult();
  }
  // Returns what a repetition of the last attempt would follow.
  std::vector<search::Trial> ResultsToFollow() const {
    const compile::CodeFolder folder((folder_ / "state" / "code").string());
    return EarlierSearch(&folder, options_text_, device_).Find();
  }
  static int64_t ConfigsRun(const TaskResult& result) { return recording::ConfigsRun(result.tuned.counters); }

  const fs::path folder_ =
      fs::path(testing::TempDir()) / ("tune-session-" + std::to_string(getpid()) + "-" +
                                      testing::UnitTest::GetInstance()->current_test_info()->name());
  TuneFixture fixture_;
  std::function<absl::StatusOr<codegen::GeneratedKernel>(const runtime::BoundKernel&, const codegen::Config&)> spoil_;
  std::function<search::PredictTime(const v1::Run&, const device::DeviceProperties&)> predict_;
  std::string algorithm_ = fixture_.Options(kSearched).search.algorithm;
  std::string notices_;
  bool begins_with_known_ = true;
  device::DeviceProperties device_;
  std::string options_text_;
};

TEST_F(TuneSessionTest, AKnownRunIsConfirmedByTheConfigsOfItsFinal) {
  const TaskResult searched = Tune();
  ASSERT_TRUE(searched.tuned.ranking.best.has_value());
  EXPECT_GE(ConfigsRun(searched), kSearched);
  EXPECT_THAT(notices_, Not(HasSubstr("confirming")));

  const TaskResult confirmed = Tune();
  ASSERT_TRUE(confirmed.tuned.ranking.best.has_value());
  EXPECT_THAT(notices_, HasSubstr("confirming"));
  // Two finalists, and the default config, which may be one of them.
  EXPECT_LE(ConfigsRun(confirmed), 3);
  EXPECT_NE(confirmed.tuned.attempt_id, searched.tuned.attempt_id);
  std::vector<codegen::Config> finalists = searched.tuned.ranking.runners_up;
  finalists.push_back(searched.tuned.ranking.best->config);
  EXPECT_THAT(finalists, testing::Contains(confirmed.tuned.ranking.best->config));
}

TEST_F(TuneSessionTest, AConfirmationBeginsWithTheDefaultConfig) {
  Tune();
  std::vector<codegen::Config> generated;
  codegen::Config default_config;
  spoil_ = [&](const runtime::BoundKernel& kernel, const codegen::Config& config) {
    generated.push_back(config);
    default_config = kernel.config_space().Default();
    return kernel.Generate(config);
  };
  Tune();
  EXPECT_THAT(notices_, HasSubstr("confirming"));
  ASSERT_FALSE(generated.empty());
  EXPECT_EQ(generated.front(), default_config);
  EXPECT_EQ(std::count(generated.begin(), generated.end(), default_config), 1);
}

TEST_F(TuneSessionTest, AKnownRunIsSearchedOnRequest) {
  Tune();
  const TaskResult again = Tune({.search_known = true});
  EXPECT_THAT(notices_, Not(HasSubstr("confirming")));
  EXPECT_GE(ConfigsRun(again), kSearched);
}

TEST_F(TuneSessionTest, ASearchThatBeginsWithNothingKnownCanBeRepeated) {
  begins_with_known_ = false;
  const TaskResult first = Tune();
  ASSERT_FALSE(first.tuned.results.empty());
  EXPECT_EQ(ConfigsOf(ResultsToFollow()), ConfigsOf(first.tuned.results));
  const TaskResult again = Tune({.search_known = true});
  EXPECT_EQ(ConfigsOf(ResultsToFollow()), ConfigsOf(again.tuned.results));
}

TEST_F(TuneSessionTest, ASearchThatBeginsWithKnownConfigsIsNotRepeated) {
  Tune();
  const std::vector<search::Trial> first = ResultsToFollow();
  EXPECT_FALSE(first.empty());
  Tune({.search_known = true});
  const std::vector<search::Trial> second = ResultsToFollow();
  ASSERT_EQ(second.size(), first.size());
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(second[i].perf_ms, first[i].perf_ms) << "replaced";
}

TEST_F(TuneSessionTest, ASearchAsksTheCostModelAndAConfirmationDoesNot) {
  algorithm_ = "surrogate";
  std::vector<std::string> runs;
  std::atomic<int> predictions = 0;
  predict_ = [&](const v1::Run& run, const device::DeviceProperties& device) -> search::PredictTime {
    runs.push_back(run.run_id());
    EXPECT_FALSE(device.name.empty());
    return [&predictions](const codegen::Config& config) {
      ++predictions;
      return static_cast<double>(config.id() % 10) / 10;
    };
  };
  Tune();
  EXPECT_THAT(runs, testing::ElementsAre(testing::SizeIs(64)));
  EXPECT_GT(predictions, kSearched);
  predictions = 0;
  algorithm_ = fixture_.Options(kSearched).search.algorithm;
  Tune();
  EXPECT_THAT(notices_, HasSubstr("confirming"));
  EXPECT_EQ(predictions, 0);
}

TEST_F(TuneSessionTest, ARunWhoseKnownConfigsAreWrongIsSearched) {
  Tune();
  spoil_ = [this](const runtime::BoundKernel& kernel, const codegen::Config& config) {
    absl::StatusOr<codegen::GeneratedKernel> generated = kernel.Generate(config);
    if (generated.ok() && notices_.find("searching") == std::string::npos) generated->source += "#error\n";
    return generated;
  };
  const TaskResult result = Tune();
  EXPECT_THAT(notices_, HasSubstr("none of the known configs gives correct results any more"));
  EXPECT_TRUE(result.tuned.ranking.best.has_value());
  EXPECT_GE(ConfigsRun(result), kSearched);
}

}  // namespace
}  // namespace telemetry::worker::tune
