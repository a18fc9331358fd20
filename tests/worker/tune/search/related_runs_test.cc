// Tests searches that know the results of related runs.

#include "worker/tune/search/related_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/worker/tune/search/landscape.h"
#include "tests/worker/tune/search/spaces.h"
#include "worker/tune/search/make_search.h"
#include "worker/tune/search/related_model.h"
#include "worker/tune/search/surrogate_model.h"

namespace telemetry::worker::tune::search {
namespace {

constexpr char kKernel[] = "matmul";

std::unique_ptr<SearchAlgorithm> Make(uint64_t seed, std::vector<RelatedRun> related, int max_configs = 100) {
  return *MakeSearch(LibraryConfigSpace(kKernel),
                     {.seed = seed, .related = std::move(related), .max_configs = max_configs});
}

// Returns the trials of a search on a landscape, in their order.
std::vector<Trial> TrialsOf(SearchAlgorithm& search, const Landscape& landscape, uint64_t clock_seed) {
  std::vector<Trial> trials;
  for (auto configs = search.Propose(); !configs.empty(); configs = search.Propose()) {
    const std::vector<Trial> results = landscape.Measure(configs, clock_seed + trials.size());
    search.Learn(results);
    trials.insert(trials.end(), results.begin(), results.end());
  }
  return trials;
}

// Returns the results of an earlier search on the landscape, with times of another size: each is `factor` times as long
// to the power `power`.
RelatedRun EarlierRun(const Landscape& landscape, uint64_t seed, double factor = 3, double power = 1) {
  std::vector<Trial> trials = TrialsOf(*Make(seed, {}), landscape, seed);
  for (Trial& trial : trials) {
    if (trial.perf_ms) trial.perf_ms = factor * std::pow(*trial.perf_ms, power);
  }
  return {.trials = SelectTrials(std::move(trials)), .noise = 0.1};
}

// Returns the number of configs until one is at most `slowdown` times as slow as the optimum; 1000: none.
size_t ConfigsTo(double slowdown, const std::vector<Trial>& trials, const Landscape& landscape) {
  for (size_t i = 0; i < trials.size(); ++i) {
    if (landscape.Slowdown(trials[i].config).value_or(std::numeric_limits<double>::infinity()) <= slowdown)
      return i + 1;
  }
  return 1000;
}

double BestOf(const std::vector<Trial>& trials, const Landscape& landscape) {
  double best = std::numeric_limits<double>::infinity();
  for (const Trial& trial : trials) best = std::min(best, landscape.Slowdown(trial.config).value_or(best));
  return best;
}

template <typename T>
T MedianOf(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

TEST(RelatedRunsTest, NoiseGrowsWithEachDifference) {
  const RunTraits run = {.input_shapes = "[(64, 64)]", .dtypes = "['f16']", .hardware = "H", .source = "s"};
  const double least = RelationNoise(run, run);
  EXPECT_GT(least, 0);
  RunTraits other = run;
  other.input_shapes = "[(128, 64)]";
  const double near = RelationNoise(run, other);
  other.input_shapes = "[(4096, 64)]";
  EXPECT_LT(least, near);
  EXPECT_LT(near, RelationNoise(run, other));
  for (std::string RunTraits::*trait : {&RunTraits::dtypes, &RunTraits::hardware, &RunTraits::source}) {
    other = run;
    other.*trait = "other";
    EXPECT_GT(RelationNoise(run, other), least);
  }
  other = run;
  other.input_shapes = "[(64,)]";
  EXPECT_TRUE(std::isinf(RelationNoise(run, other)));
}

TEST(RelatedRunsTest, TheFastestTrialsAndSomeOfAllOthersAreSelected) {
  std::vector<Trial> trials;
  for (int i = 0; i < 1000; ++i) {
    trials.push_back({*codegen::Config::Parse("Config(n=" + std::to_string(i) + ")"), {}});
    if (i % 10 != 0) trials.back().perf_ms = 1000 - i;
  }
  const std::vector<Trial> selected = SelectTrials(trials);
  ASSERT_EQ(selected.size(), kMostRelatedTrials);
  EXPECT_EQ(selected.front().perf_ms, 1);
  EXPECT_EQ(*selected[kMostRelatedTrials / 2 - 1].perf_ms, 66);
  const auto failures = std::count_if(selected.begin(), selected.end(), [](const Trial& t) { return !t.perf_ms; });
  EXPECT_GE(failures, 5);
  EXPECT_LE(failures, 8);
}

TEST(RelatedRunsTest, ResultsWithMoreNoiseCountLess) {
  GaussianProcess process(1);
  process.Fit(Eigen::RowVector3d(1, 1, 5), Eigen::Vector3d(0, 4, 2), Eigen::Vector3d(0.01, 10, 0.01));
  EXPECT_LT(process.PredictMeans(Eigen::MatrixXd::Constant(1, 1, 1))[0], 1.5);
}

TEST(RelatedRunsTest, ConfigsThatTheSpaceCannotExpressAreIgnored) {
  const PointSpace space(LibraryConfigSpace(kKernel));
  EXPECT_EQ(space.FindPoint(space.ToConfig(space.Default())), space.Default());
  EXPECT_EQ(space.FindPoint(codegen::Config()), space.Default());
  for (const char* text :
       {"Config(num_warps=3)", "Config(num_warps='x')", "Config(block_sizes=[])", "Config(block_sizes=7)"}) {
    EXPECT_EQ(space.FindPoint(*codegen::Config::Parse(text)), std::nullopt) << text;
  }
  std::vector<Trial> foreign(50, Trial{*codegen::Config::Parse("Config(num_warps=3)"), 1.0});
  EXPECT_FALSE(RelatedModel(space, {{.trials = foreign, .noise = 0.1}}).has_times());
}

TEST(RelatedRunsTest, TimesThatAreNoneAndInfiniteNoiseAreIgnored) {
  const Landscape landscape(LibraryConfigSpace(kKernel), {.seed = 1});
  const PointSpace space(LibraryConfigSpace(kKernel));
  RelatedRun run = EarlierRun(landscape, 1);
  EXPECT_TRUE(RelatedModel(space, {run}).has_times());
  RelatedRun far = run;
  far.noise = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(RelatedModel(space, {far}).has_times());
  for (Trial& trial : run.trials) trial.perf_ms = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(RelatedModel(space, {run}).has_times());
}

TEST(RelatedRunsTest, WithoutUsableResultsASearchIsTheSame) {
  const Landscape landscape(LibraryConfigSpace(kKernel), {.seed = 1});
  const RelatedRun useless = {.trials = {{*codegen::Config::Parse("Config(num_warps=3)"), 1.0}}, .noise = 0.1};
  const std::vector<Trial> plain = TrialsOf(*Make(1, {}, 60), landscape, 1);
  const std::vector<Trial> with = TrialsOf(*Make(1, {useless}, 60), landscape, 1);
  ASSERT_EQ(plain.size(), with.size());
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(plain[i].config, with[i].config);
}

TEST(RelatedRunsTest, ASearchNeedsLessThanHalfOfTheConfigs) {
  std::vector<size_t> plain;
  std::vector<size_t> related;
  for (uint64_t seed = 0; seed < 9; ++seed) {
    // The related run has the same optimum, other failures, and other unexplained differences.
    const Landscape landscape(LibraryConfigSpace(kKernel), {.seed = seed});
    const Landscape other(LibraryConfigSpace(kKernel), {.seed = seed, .unexplained = 0.1, .failures = 0.2});
    const RelatedRun run = EarlierRun(other, seed + 100);
    plain.push_back(ConfigsTo(1.1, TrialsOf(*Make(seed, {}), landscape, seed), landscape));
    related.push_back(ConfigsTo(1.1, TrialsOf(*Make(seed, {run}), landscape, seed), landscape));
  }
  std::printf("configs to within 10%%: %zu, with a related run %zu\n", MedianOf(plain), MedianOf(related));
  EXPECT_LE(MedianOf(related), MedianOf(plain) / 2);
}

TEST(RelatedRunsTest, ResultsThatMisleadAreNotTrustedForLong) {
  std::vector<double> plain;
  std::vector<double> misled;
  for (uint64_t seed = 0; seed < 9; ++seed) {
    const Landscape landscape(LibraryConfigSpace(kKernel), {.seed = seed});
    const RelatedRun inverted = EarlierRun(landscape, seed + 100, /*factor=*/1, /*power=*/-1);
    plain.push_back(BestOf(TrialsOf(*Make(seed, {}), landscape, seed), landscape));
    misled.push_back(BestOf(TrialsOf(*Make(seed, {inverted}), landscape, seed), landscape));
  }
  std::printf("best of 100 configs: %.3f, with misleading results %.3f\n", MedianOf(plain), MedianOf(misled));
  EXPECT_LE(MedianOf(misled), 1.1 * MedianOf(plain));
}

}  // namespace
}  // namespace telemetry::worker::tune::search
