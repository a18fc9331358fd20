// Tests searches that know the predictions of a cost model.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "proto/base/random.h"
#include "tests/worker/tune/search/landscape.h"
#include "tests/worker/tune/search/spaces.h"
#include "worker/tune/search/make_search.h"
#include "worker/tune/search/predicted_times.h"
#include "worker/tune/search/prior_weights.h"
#include "worker/tune/search/pruning.h"

namespace telemetry::worker::tune::search {
namespace {

constexpr char kPredictedKernel[] = "matmul";
constexpr uint64_t kPredictedSeeds = 9;

double SignedReal(Random* random) { return (static_cast<double>(random->Index(2001)) - 1000) / 1000; }

// Returns the predictions of a model that knows the landscape but for its unexplained differences, to a power. Like
// those of a trained model, they are relative to a usual time.
PredictTime ModelOf(uint64_t landscape_seed, double power = 1) {
  const auto known =
      std::make_shared<const Landscape>(LibraryConfigSpace(kPredictedKernel),
                                        LandscapeOptions{.seed = landscape_seed, .unexplained = 0.3, .failures = 0});
  return [known, power](const codegen::Config& config) {
    constexpr double kUsualSlowdown = 8;
    return power * std::log(known->Slowdown(config).value_or(kUsualSlowdown) / kUsualSlowdown);
  };
}

// Returns predictions that have nothing to do with the times.
PredictTime Nonsense() {
  return [](const codegen::Config& config) { return static_cast<double>(config.id() % 1000) / 500; };
}

struct SearchOutcome {
  std::vector<Trial> trials;
  size_t configs_to_10_percent = 1000;
  double best = std::numeric_limits<double>::infinity();
};

SearchOutcome SearchWith(const std::string& algorithm, uint64_t seed, PredictTime predict, int max_configs = 100) {
  const Landscape landscape(LibraryConfigSpace(kPredictedKernel), {.seed = seed});
  const auto search =
      *MakeSearch(LibraryConfigSpace(kPredictedKernel),
                  {.algorithm = algorithm, .seed = seed, .predict = std::move(predict), .max_configs = max_configs});
  SearchOutcome searched;
  for (auto configs = search->Propose(); !configs.empty(); configs = search->Propose()) {
    const std::vector<Trial> results = landscape.Measure(configs, seed + searched.trials.size());
    search->Learn(results);
    for (const Trial& trial : results) {
      searched.trials.push_back(trial);
      searched.best = std::min(searched.best, landscape.Slowdown(trial.config).value_or(searched.best));
      if (searched.best <= 1.1 && searched.configs_to_10_percent == 1000) {
        searched.configs_to_10_percent = searched.trials.size();
      }
    }
  }
  return searched;
}

template <typename T>
T MiddleOf(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<codegen::Config> TriedConfigs(const SearchOutcome& searched) {
  std::vector<codegen::Config> configs;
  for (const Trial& trial : searched.trials) configs.push_back(trial.config);
  return configs;
}

TEST(PredictionsTest, ASearchNeedsAtMostHalfOfTheConfigs) {
  std::vector<size_t> plain;
  std::vector<size_t> guided;
  for (uint64_t seed = 0; seed < kPredictedSeeds; ++seed) {
    plain.push_back(SearchWith("surrogate", seed, {}).configs_to_10_percent);
    guided.push_back(SearchWith("surrogate", seed, ModelOf(seed)).configs_to_10_percent);
  }
  std::printf("configs to within 10%%: %zu, with a model %zu\n", MiddleOf(plain), MiddleOf(guided));
  EXPECT_LE(MiddleOf(guided), MiddleOf(plain) / 2);
}

TEST(PredictionsTest, AModelThatIsWrongFadesOut) {
  std::vector<double> plain;
  std::vector<double> inverted;
  std::vector<double> nonsense;
  for (uint64_t seed = 0; seed < kPredictedSeeds; ++seed) {
    plain.push_back(SearchWith("surrogate", seed, {}).best);
    inverted.push_back(SearchWith("surrogate", seed, ModelOf(seed, -1)).best);
    nonsense.push_back(SearchWith("surrogate", seed, Nonsense()).best);
  }
  std::printf("best of 100 configs: %.3f, with an inverted model %.3f, with nonsense %.3f\n", MiddleOf(plain),
              MiddleOf(inverted), MiddleOf(nonsense));
  EXPECT_LE(MiddleOf(inverted), 1.1 * MiddleOf(plain));
  EXPECT_LE(MiddleOf(nonsense), 1.1 * MiddleOf(plain));
}

TEST(PredictionsTest, AModelThatTellsNothingChangesNothing) {
  for (const std::string_view algorithm : SearchAlgorithmNames()) {
    if (algorithm == "finite") continue;
    const std::string name(algorithm);
    const auto same = [](const codegen::Config& /*config*/) { return 3.0; };
    const auto none = [](const codegen::Config& /*config*/) { return std::numeric_limits<double>::quiet_NaN(); };
    const std::vector<codegen::Config> plain = TriedConfigs(SearchWith(name, 1, same, 60));
    EXPECT_EQ(TriedConfigs(SearchWith(name, 1, none, 60)), plain) << name;
    // The first generation of "surrogate" is smaller with a model.
    if (name == "surrogate") continue;
    EXPECT_EQ(TriedConfigs(SearchWith(name, 1, {}, 60)), plain) << name;
  }
}

TEST(PredictionsTest, NumbersBeyondAllBoundsDoNoHarm) {
  const auto wild = [](const codegen::Config& config) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double values[] = {kInfinity, -kInfinity, 1e300, -1e300, std::numeric_limits<double>::quiet_NaN()};
    return values[config.id() % 5];
  };
  const SearchOutcome plain = SearchWith("surrogate", 2, {}, 60);
  const SearchOutcome searched = SearchWith("surrogate", 2, wild, 60);
  EXPECT_EQ(searched.trials.size(), plain.trials.size());
  EXPECT_TRUE(std::isfinite(searched.best));
}

TEST(PredictionsTest, RandomSearchLeavesOutWhatIsSlow) {
  std::vector<double> plain;
  std::vector<double> pruned;
  for (uint64_t seed = 0; seed < kPredictedSeeds; ++seed) {
    plain.push_back(SearchWith("random", seed, {}).best);
    // A search cuts predictions off at 3, and these configs differ by more than a factor of 20 from the usual time.
    pruned.push_back(SearchWith("random", seed, ModelOf(seed, 0.3)).best);
  }
  std::printf("best of 100 random configs: %.3f, pruned %.3f\n", MiddleOf(plain), MiddleOf(pruned));
  EXPECT_LT(MiddleOf(pruned), 0.9 * MiddleOf(plain));
}

TEST(PredictionsTest, AModelThatIsWrongPrunesNothing) {
  for (uint64_t seed = 0; seed < kPredictedSeeds; ++seed) {
    const std::vector<codegen::Config> plain = TriedConfigs(SearchWith("random", seed, {}));
    EXPECT_EQ(TriedConfigs(SearchWith("random", seed, ModelOf(seed, -1))), plain);
    EXPECT_EQ(TriedConfigs(SearchWith("random", seed, Nonsense())), plain);
  }
}

// Returns the fraction of 1000 other configs that are pruned, and of those faster than the best result, after `count`
// results. The prediction of a config has an error of at most `error`.
struct Pruned {
  double of_all = 0;
  double of_faster = 0;
};
Pruned PruneAfter(size_t count, double slope, double error, uint64_t seed = 0) {
  Random random(seed);
  std::vector<double> predicted;
  std::vector<double> times;
  const auto draw = [&] {
    const double time = SignedReal(&random);
    times.push_back(time);
    predicted.push_back(slope * time + error * SignedReal(&random) + 7);
  };
  for (size_t i = 0; i < count; ++i) draw();
  Pruning pruning;
  pruning.Learn(predicted, times);
  const double best = *std::min_element(times.begin(), times.end());
  double faster = 0;
  Pruned pruned;
  for (int i = 0; i < 1000; ++i) {
    draw();
    const bool is_faster = times.back() < best;
    faster += is_faster ? 1 : 0;
    if (!pruning.IsHopeless(predicted.back())) continue;
    pruned.of_all += 0.001;
    pruned.of_faster += is_faster ? 1 : 0;
  }
  if (faster > 0) pruned.of_faster /= faster;
  return pruned;
}

TEST(PruningTest, WaitsForResults) {
  EXPECT_EQ(PruneAfter(1, 1, 0.1).of_all, 0);
  EXPECT_EQ(PruneAfter(Pruning::kLeastResults - 1, 1, 0.1).of_all, 0);
  EXPECT_GT(PruneAfter(Pruning::kLeastResults, 1, 0.1).of_all, 0.5);
}

TEST(PruningTest, PrunesLessTheLargerTheErrorIs) {
  double least = 1;
  for (const double error : {0.05, 0.4, 0.8, 1.6, 3.0}) {
    double mean = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) mean += PruneAfter(50, 1, error, seed).of_all / 20;
    EXPECT_LT(mean, least) << error;
    least = mean;
  }
  EXPECT_LT(least, 0.1);
}

TEST(PruningTest, KeepsWhatIsFasterThanTheBest) {
  for (const double error : {0.05, 0.2, 0.4, 0.8}) {
    double lost = 0;
    for (uint64_t seed = 0; seed < 100; ++seed) lost += PruneAfter(30, 1, error, seed).of_faster / 100;
    EXPECT_LT(lost, 0.01) << error;
  }
}

TEST(PruningTest, AModelThatDoesNotPredictPrunesNothing) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    EXPECT_EQ(PruneAfter(30, -1, 0.1, seed).of_all, 0);
    EXPECT_EQ(PruneAfter(30, 0, 1, seed).of_all, 0);
    EXPECT_EQ(PruneAfter(30, 0, 0, seed).of_all, 0);
  }
}

TEST(PriorWeightsTest, FollowTheValues) {
  Random random(0);
  PriorPrediction good = {.predicted = {}, .variance = 0.3};
  PriorPrediction bad = {.predicted = {}, .variance = 0.3};
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) {
    values.push_back(SignedReal(&random));
    good.predicted.push_back(values.back() + 0.1 * SignedReal(&random) - 5);
    bad.predicted.push_back(SignedReal(&random));
  }
  PriorPrediction inverted = good;
  for (double& value : inverted.predicted) value = -value;

  EXPECT_NEAR(PriorWeights({good}, values)[0], 1, 0.05);
  EXPECT_LT(PriorWeights({bad}, values)[0], 0.2);
  EXPECT_EQ(PriorWeights({inverted}, values)[0], 0);
  EXPECT_THAT(PriorWeights({}, values), testing::IsEmpty());
  const std::vector<double> both = PriorWeights({bad, good}, values);
  EXPECT_LT(both[0], 0.1);
  EXPECT_NEAR(both[1], 1, 0.05);
  const std::vector<double> twice = PriorWeights({good, good}, values);
  EXPECT_NEAR(twice[0] + twice[1], 1, 0.05);
  EXPECT_NEAR(twice[0], twice[1], 0.05);
}

TEST(PriorWeightsTest, WithoutResultsThePredictionsCountEqually) {
  EXPECT_THAT(PriorWeights({{.predicted = {}, .variance = 1}}, {}), testing::ElementsAre(testing::DoubleNear(1, 1e-6)));
  EXPECT_THAT(PriorWeights({{.predicted = {}, .variance = 1}, {.predicted = {}, .variance = 2}}, {}),
              testing::ElementsAre(testing::DoubleNear(0.5, 1e-6), testing::DoubleNear(0.5, 1e-6)));
}

TEST(PredictedTimesTest, PredictsEachPointOnce) {
  const PointSpace space(LibraryConfigSpace(kPredictedKernel));
  std::atomic<int> calls = 0;
  PredictedTimes times(&space, [&calls](const codegen::Config& config) {
    ++calls;
    return static_cast<double>(config.id() % 7);
  });
  std::vector<Point> points = space.Neighbours(space.Default());
  const std::vector<double> first = times.Of(points);
  EXPECT_EQ(calls, static_cast<int>(points.size()));
  EXPECT_EQ(first.back(), static_cast<double>(space.ToConfig(points.back()).id() % 7));
  EXPECT_EQ(times.Of(points), first);
  EXPECT_EQ(times.Of(points[0]), first[0]);
  EXPECT_EQ(calls, static_cast<int>(points.size()));
  EXPECT_GT(times.Variance(), 1);
  EXPECT_EQ(PredictedTimes(&space, {}).Variance(), 0);
}

}  // namespace
}  // namespace telemetry::worker::tune::search
