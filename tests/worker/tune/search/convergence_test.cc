#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "tests/worker/tune/search/landscape.h"
#include "tests/worker/tune/search/spaces.h"
#include "worker/tune/search/make_search.h"
#include "worker/tune/search/tile_shape.h"

namespace telemetry::worker::tune::search {
namespace {

constexpr int kSeeds = 20;
constexpr int kConfigs = 100;

// Returns true if TELEMETRY_SEARCH_ALL is set: the tests then run on every library kernel, which takes minutes.
bool WantsAll() { return std::getenv("TELEMETRY_SEARCH_ALL") != nullptr; }

std::vector<std::string> Kernels(std::vector<std::string> few) {
  if (!WantsAll()) return few;
  std::vector<std::string> names;
  for (const NamedSpace& named : LibrarySpaces()) names.push_back(named.name);
  return names;
}

double Slowdown(const std::string& kernel, const LandscapeOptions& options, SearchOptions search_options,
                size_t in_flight = 1) {
  const Landscape landscape(LibraryConfigSpace(kernel), options);
  const uint64_t clock_seed = search_options.seed;
  auto search = MakeSearch(LibraryConfigSpace(kernel), std::move(search_options));
  EXPECT_TRUE(search.ok()) << search.status();
  return RunSearch(search->get(), landscape, clock_seed, in_flight).slowdown;
}

// Returns the median over kSeeds landscapes of the time of the fastest config found, relative to the optimum.
double MedianSlowdown(const std::string& kernel, const std::string& algorithm) {
  std::vector<double> slowdowns;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    slowdowns.push_back(
        Slowdown(kernel, {.seed = seed}, {.algorithm = algorithm, .seed = seed, .max_configs = kConfigs}));
  }
  std::sort(slowdowns.begin(), slowdowns.end());
  std::printf("%-16s %-22s %d configs: median %.3f best %.3f worst %.3f of %d seeds\n", kernel.c_str(),
              algorithm.c_str(), kConfigs, slowdowns[kSeeds / 2], slowdowns.front(), slowdowns.back(), kSeeds);
  return slowdowns[kSeeds / 2];
}

// Returns the ratio of the slowest to the fastest result of five seeds on the same landscape.
double SpreadOfSeeds(const std::string& kernel, uint64_t landscape) {
  std::vector<double> slowdowns;
  for (uint64_t seed = 0; seed < 5; ++seed) slowdowns.push_back(Slowdown(kernel, {.seed = landscape}, {.seed = seed}));
  const auto [fastest, slowest] = std::minmax_element(slowdowns.begin(), slowdowns.end());
  std::printf("%-16s landscape %d: slowest / fastest of 5 seeds %.3f, slowest / optimum %.3f\n", kernel.c_str(),
              static_cast<int>(landscape), *slowest / *fastest, *slowest);
  return *slowest / *fastest;
}

TEST(ConvergenceTest, GuidedSearchesBeatRandomOnesInAsManyTrials) {
  for (const std::string& kernel : Kernels({"matmul", "softmax"})) {
    const double random = MedianSlowdown(kernel, "random");
    const double pattern = MedianSlowdown(kernel, "pattern");
    const double evolution = MedianSlowdown(kernel, "differential_evolution");
    const double surrogate = MedianSlowdown(kernel, "surrogate");
    EXPECT_LT(pattern, random) << kernel;
    EXPECT_LT(evolution, random) << kernel;
    EXPECT_LT(surrogate, pattern) << kernel;
    EXPECT_LT(surrogate, evolution) << kernel;
  }
}

// Checks that proposals with many configs in flight, whose results are not known yet, cost little.
TEST(ConvergenceTest, ASearchThatDoesNotWaitFindsAsGoodConfigs) {
  for (const std::string& kernel : Kernels({"matmul", "softmax"})) {
    std::vector<double> waiting;
    std::vector<double> in_flight;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      waiting.push_back(Slowdown(kernel, {.seed = seed}, {.seed = seed}));
      in_flight.push_back(Slowdown(kernel, {.seed = seed}, {.seed = seed, .most_at_once = 8}, 16));
    }
    std::sort(waiting.begin(), waiting.end());
    std::sort(in_flight.begin(), in_flight.end());
    std::printf("%-16s quick: waiting median %.3f worst %.3f, 16 to 24 in flight median %.3f worst %.3f\n",
                kernel.c_str(), waiting[kSeeds / 2], waiting.back(), in_flight[kSeeds / 2], in_flight.back());
    EXPECT_LE(in_flight[kSeeds / 2], 1.03 * waiting[kSeeds / 2]) << kernel;
  }
}

// Checks that few searches end in the second local minimum of a landscape, which is a tenth slower than the optimum.
TEST(ConvergenceTest, QuickEffortFindsAsGoodConfigsFromMostSeeds) {
  const uint64_t landscapes = WantsAll() ? 8 : 2;
  int apart = 0;
  int all = 0;
  for (const std::string& kernel : Kernels({"attention", "softmax"})) {
    for (uint64_t landscape = 0; landscape < landscapes; ++landscape) {
      const double spread = SpreadOfSeeds(kernel, landscape);
      EXPECT_LE(spread, 1.2) << kernel << " landscape " << landscape;
      apart += spread > 1.05 ? 1 : 0;
      ++all;
    }
  }
  EXPECT_LE(apart, all / 4) << "of " << all;
}

// A search whose configs are compiled, with a time limit.
struct CompiledSearch {
  size_t ended = 0;  // configs whose compilers exceeded the limit
  double slowdown = INFINITY;
};

// Compiling takes longer the more elements a thread has. `tells`: the search learns how long.
CompiledSearch RunCompiled(const std::string& kernel, uint64_t seed, bool tells) {
  constexpr double kLimit = 1;
  const codegen::ConfigSpace config_space = LibraryConfigSpace(kernel);
  const PointSpace space(config_space);
  const Landscape landscape(config_space, {.seed = seed});
  auto search = MakeSearch(config_space, {.seed = seed}).value();
  CompiledSearch result;
  for (std::vector<codegen::Config> configs = search->Propose(); !configs.empty(); configs = search->Propose()) {
    std::vector<Trial> trials = landscape.Measure(configs, seed);
    for (Trial& trial : trials) {
      const Point point = *space.ToPoint(trial.config);
      const double seconds = 0.06 * std::exp2(0.7 * ComputeTileShape(space, point).elements_per_thread());
      if (seconds > kLimit) {
        ++result.ended;
        trial.perf_ms.reset();
      }
      if (tells) trial.compile_s = std::min(seconds, kLimit);
      if (trial.perf_ms) result.slowdown = std::min(result.slowdown, *landscape.Slowdown(trial.config));
    }
    search->Learn(trials);
  }
  return result;
}

// Such configs cost the most time and give no result.
TEST(ConvergenceTest, ASearchProposesFewConfigsThatCompileForLong) {
  constexpr uint64_t kCompiledSeeds = 9;
  size_t told = 0;
  size_t untold = 0;
  std::vector<double> told_slowdowns;
  std::vector<double> untold_slowdowns;
  for (uint64_t seed = 0; seed < kCompiledSeeds; ++seed) {
    const CompiledSearch one = RunCompiled("attention", seed, /*tells=*/true);
    const CompiledSearch other = RunCompiled("attention", seed, /*tells=*/false);
    told += one.ended;
    untold += other.ended;
    told_slowdowns.push_back(one.slowdown);
    untold_slowdowns.push_back(other.slowdown);
  }
  std::sort(told_slowdowns.begin(), told_slowdowns.end());
  std::sort(untold_slowdowns.begin(), untold_slowdowns.end());
  const double slowdown = told_slowdowns[kCompiledSeeds / 2];
  std::printf("ended %zu configs, without their times %zu; median slowdown %.3f, %.3f\n", told, untold, slowdown,
              untold_slowdowns[kCompiledSeeds / 2]);
  EXPECT_LT(static_cast<double>(told), 0.6 * static_cast<double>(untold));
  EXPECT_LE(slowdown, 1.05 * untold_slowdowns[kCompiledSeeds / 2]);
}

}  // namespace
}  // namespace telemetry::worker::tune::search
