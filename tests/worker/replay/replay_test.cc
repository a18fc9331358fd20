#include "worker/replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "proto/record/json.h"
#include "tests/worker/replay/stored_runs.h"

namespace telemetry::worker::replay {
namespace {

using ::testing::HasSubstr;

ReplayReport ReportOf(ReplayOptions options) { return ReplayRuns({ValleyRun()}, std::move(options)).value(); }

TEST(ReplayTest, ADirectedSearchBeatsRandomSearch) {
  const ReplayReport report = ReportOf({.algorithms = {"random", "surrogate"}, .seeds = 20});
  ASSERT_EQ(report.runs.size(), 1U);
  const AlgorithmOutcome& random = report.runs[0].algorithms[0];
  const AlgorithmOutcome& surrogate = report.runs[0].algorithms[1];
  EXPECT_GT(surrogate.score, random.score + 3 * (surrogate.score_error + random.score_error));
  EXPECT_LT(MedianConfigsTo2(surrogate).value(), 80U);
  EXPECT_EQ(MedianOfBest(surrogate, 1), 1.0);
}

TEST(ReplayTest, DependsOnTheSeedsOnly) {
  const ReplayOptions options = {.algorithms = {"surrogate", "pattern"}, .first_seed = 7, .seeds = 6, .threads = 1};
  ReplayOptions parallel = options;
  parallel.threads = 4;
  const std::string once = ToJson(ReportOf(options));
  EXPECT_EQ(ToJson(ReportOf(parallel)), once);
  ReplayOptions others = options;
  others.first_seed = 8;
  EXPECT_NE(ToJson(ReportOf(others)), once);
}

TEST(ReplayTest, SkipsRunsThatCannotBeScored) {
  const ReplayReport report = ReportOf({.algorithms = {"random"}, .least_configs = 10000});
  EXPECT_TRUE(report.runs.empty());
  EXPECT_THAT(ToText(report), HasSubstr("skipped: valley   on H200: the dataset has times of 244 configs"));
}

TEST(ReplayTest, ReportsAsTextAndJson) {
  const ReplayReport report = ReportOf({.algorithms = {"random", ""}, .max_configs = 40, .seeds = 3});
  const std::string text = ToText(report);
  EXPECT_THAT(text, HasSubstr("256 configs, 12 of them failed; 100% of the combinations of their values"));
  EXPECT_THAT(text, HasSubstr("optimum 1 ms, median 7 ms; budget 61 s"));
  EXPECT_THAT(text, HasSubstr("\n  default "));
  EXPECT_THAT(text, HasSubstr("mean score of 1 run"));
  const record::Json json = record::ParseJson(ToJson(report)).value();
  const record::Json& run = json.Find("runs")->items.at(0);
  EXPECT_EQ(run.Find("times_s")->items.size(), 112U);
  EXPECT_EQ(run.Find("baseline_ms")->items.size(), 112U);
  const record::Json& algorithm = run.Find("algorithms")->items.at(0);
  EXPECT_EQ(algorithm.Find("best_ms")->items.size(), 112U);
  ASSERT_EQ(algorithm.Find("seeds")->items.size(), 3U);
  EXPECT_EQ(algorithm.Find("seeds")->items[2].Find("configs")->text, "40");
}

TEST(ReplayTest, ReplaysSurrogateWithRelatedRunsToo) {
  ReplayOptions options = {.algorithms = {"random", ""}, .seeds = 5};
  // The results of a run with times twice as long, of every third config.
  options.related = [](const StoredRun& run) {
    tune::search::RelatedRun related = {.trials = {}, .noise = 0.1};
    for (size_t i = 0; i < run.configs.size(); i += 3) {
      related.trials.push_back({run.configs[i].config, run.configs[i].perf_ms});
      if (related.trials.back().perf_ms) related.trials.back().perf_ms = 2 * *related.trials.back().perf_ms;
    }
    return std::vector<tune::search::RelatedRun>{related};
  };
  const ReplayReport report = ReportOf(options);
  const std::vector<AlgorithmOutcome>& algorithms = report.runs[0].algorithms;
  ASSERT_EQ(algorithms.size(), 3U) << "random search does not use related runs";
  EXPECT_EQ(algorithms[2].algorithm, "+related");
  EXPECT_LE(MedianConfigsTo2(algorithms[2]).value_or(1000), MedianConfigsTo2(algorithms[1]).value_or(1000) / 2);
  EXPECT_THAT(ToText(report), HasSubstr("\n  default+related "));
}

TEST(ReplayTest, ReplaysEachAlgorithmWithSuggestionsToo) {
  ReplayOptions options = {.algorithms = {"random", ""}, .seeds = 3};
  options.suggest = [](const StoredRun& run, const codegen::ConfigSpace& /*space*/) {
    EXPECT_EQ(run.kernel_name, "valley");
    return std::vector<codegen::Config>{ConfigOf("Config(a=16, b=4, c=2)"), ConfigOf("Config(a=32, b=4, c=2)")};
  };
  const ReplayReport report = ReportOf(options);
  const std::vector<AlgorithmOutcome>& algorithms = report.runs[0].algorithms;
  ASSERT_EQ(algorithms.size(), 4U);
  EXPECT_EQ(algorithms[0].algorithm, "random");
  EXPECT_EQ(algorithms[2].algorithm, "random+model");
  EXPECT_EQ(MedianConfigsTo2(algorithms[2]), 3U)
      << "the default config, then the suggestions, the second of them the optimum";
  EXPECT_EQ(MedianConfigsTo2(algorithms[3]), 3U);
  EXPECT_GT(MedianConfigsTo2(algorithms[0]).value_or(1000), 3U) << "the plain algorithm has no suggestions";
  EXPECT_EQ(OverallOf(report).size(), 4U);
  EXPECT_THAT(ToText(report), HasSubstr("\n  default+model "));
}

TEST(ReplayTest, ASearchWithAModelLeavesOutWhatItPredictsToBeSlow) {
  ReplayOptions options = {.algorithms = {"random"}, .first_seed = 1, .seeds = 1};
  options.suggest = [](const StoredRun& /*run*/, const codegen::ConfigSpace& /*space*/) {
    return std::vector<codegen::Config>();
  };
  options.predict = [](const StoredRun& run) -> tune::search::PredictTime {
    std::map<uint64_t, double> times;
    for (const StoredConfig& config : run.configs) {
      if (config.perf_ms) times[config.config.id()] = std::log(*config.perf_ms);
    }
    return [times](const codegen::Config& config) {
      const auto found = times.find(config.id());
      return found == times.end() ? 0 : found->second;
    };
  };
  const ReplayReport report = ReportOf(options);
  const std::vector<AlgorithmOutcome>& algorithms = report.runs[0].algorithms;
  ASSERT_EQ(algorithms.size(), 2U);
  EXPECT_LT(algorithms[1].seeds[0].configs, algorithms[0].seeds[0].configs / 2) << "most of the rest is slow";
  EXPECT_LE(*algorithms[1].seeds[0].best_ms, *algorithms[0].seeds[0].best_ms);
}

TEST(ReplayTest, RefusesOtherAlgorithms) {
  const auto report = ReplayRuns({ValleyRun()}, {.algorithms = {"finite"}, .seeds = 1});
  EXPECT_THAT(std::string(report.status().message()),
              HasSubstr("the search algorithm 'finite' cannot be replayed; choose among random, pattern"));
}

}  // namespace
}  // namespace telemetry::worker::replay
