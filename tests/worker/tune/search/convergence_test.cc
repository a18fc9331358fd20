#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "tests/worker/tune/search/landscape.h"
#include "tests/worker/tune/search/spaces.h"
#include "worker/tune/search/make_search.h"

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

}  // namespace
}  // namespace telemetry::worker::tune::search
