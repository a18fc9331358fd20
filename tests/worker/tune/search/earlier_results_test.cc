// Tests searches that repeat an earlier one.

#include "worker/tune/search/earlier_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "tests/worker/tune/search/landscape.h"
#include "tests/worker/tune/search/spaces.h"
#include "worker/tune/search/make_search.h"
#include "worker/tune/search/pruning.h"

namespace telemetry::worker::tune::search {
namespace {

constexpr char kRepeatedKernel[] = "matmul";
constexpr uint64_t kSearchSeed = 3;
constexpr uint64_t kNoiseOfRepetition = 1000;

using Change = std::function<void(std::vector<Trial>*)>;

// Returns half of the config's time, or 0 if it fails.
double LeastMs(const Landscape& landscape, const codegen::Config& config) {
  return landscape.Measure({config}, 0)[0].perf_ms.value_or(0) / 2;
}

using SizeOf = std::function<codegen::CodeSize(const codegen::Config&)>;

// Searches a landscape whose measured times differ by noise with each `noise_seed`.
std::vector<Trial> SearchOnce(uint64_t noise_seed, std::vector<Trial> earlier, int max_configs = 80,
                              const Change& change = nullptr, int most_at_once = 5, const SizeOf& size_of = nullptr) {
  const Landscape landscape(LibraryConfigSpace(kRepeatedKernel), {.seed = kSearchSeed});
  const auto least_ms = [&landscape](const codegen::Config& config) { return LeastMs(landscape, config); };
  const auto search = *MakeSearch(LibraryConfigSpace(kRepeatedKernel), {.seed = kSearchSeed,
                                                                        .earlier = std::move(earlier),
                                                                        .max_configs = max_configs,
                                                                        .most_at_once = most_at_once,
                                                                        .least_ms = least_ms,
                                                                        .code_size = size_of});
  std::vector<Trial> trials;
  for (auto configs = search->Propose(); !configs.empty(); configs = search->Propose()) {
    std::vector<Trial> results = landscape.Measure(configs, noise_seed + trials.size());
    if (change) change(&results);
    search->Learn(results);
    trials.insert(trials.end(), results.begin(), results.end());
  }
  return trials;
}

std::vector<uint64_t> SortedIds(const std::vector<Trial>& trials) {
  std::vector<uint64_t> ids;
  for (const Trial& trial : trials) ids.push_back(trial.config.id());
  std::sort(ids.begin(), ids.end());
  return ids;
}

size_t CountEqual(const std::vector<Trial>& a, const std::vector<Trial>& b) {
  const std::vector<uint64_t> ids_a = SortedIds(a);
  const std::vector<uint64_t> ids_b = SortedIds(b);
  std::vector<uint64_t> both;
  std::set_intersection(ids_a.begin(), ids_a.end(), ids_b.begin(), ids_b.end(), std::back_inserter(both));
  return both.size();
}

TEST(EarlierResultsTest, ARepeatedSearchProposesTheSameConfigs) {
  const std::vector<Trial> first = SearchOnce(0, {});
  ASSERT_EQ(first.size(), 80u);
  EXPECT_LT(CountEqual(SearchOnce(kNoiseOfRepetition, {}), first), 80u) << "the noise changes nothing";
  EXPECT_EQ(SortedIds(SearchOnce(kNoiseOfRepetition, first)), SortedIds(first));
}

TEST(EarlierResultsTest, TheOrderOfTheResultsDoesNotMatter) {
  const std::vector<Trial> first = SearchOnce(0, {});
  const auto reverse = [](std::vector<Trial>* results) { std::reverse(results->begin(), results->end()); };
  EXPECT_EQ(SortedIds(SearchOnce(kNoiseOfRepetition, first, 80, reverse)), SortedIds(first));
}

// Returns the number of trials after the first generation whose configs were known to be too slow by then.
size_t CountTooSlow(const std::vector<Trial>& trials) {
  constexpr size_t kFirstGeneration = 30;
  const Landscape landscape(LibraryConfigSpace(kRepeatedKernel), {.seed = kSearchSeed});
  double best_ms = INFINITY;
  size_t slow = 0;
  for (size_t i = 0; i < trials.size(); ++i) {
    if (i >= kFirstGeneration && LeastMs(landscape, trials[i].config) > kLeastOfBest * best_ms) ++slow;
    best_ms = std::min(best_ms, trials[i].perf_ms.value_or(INFINITY));
  }
  return slow;
}

// The earlier search proposed 40 configs at once. Some of them are known to be slow when they are proposed one by one.
TEST(EarlierResultsTest, WhatIsKnownToBeSlowByNowIsRepeated) {
  const std::vector<Trial> first = SearchOnce(0, {}, 80, nullptr, 40);
  const std::vector<Trial> again = SearchOnce(kNoiseOfRepetition, first, 80, nullptr, 1);
  EXPECT_EQ(SortedIds(again), SortedIds(first));
  EXPECT_GT(CountTooSlow(again), 0u);
}

TEST(EarlierResultsTest, ALongerSearchGoesOnFromThere) {
  const std::vector<Trial> first = SearchOnce(0, {});
  const std::vector<Trial> longer = SearchOnce(kNoiseOfRepetition, first, 120);
  EXPECT_EQ(longer.size(), 120u);
  EXPECT_EQ(CountEqual(longer, first), 80u);
}

// For example on a device that throttles, or with another driver.
TEST(EarlierResultsTest, ResultsThatDoNotAgreeAreNotFollowed) {
  const std::vector<Trial> first = SearchOnce(0, {});
  const auto slow_down = [](std::vector<Trial>* results) {
    for (Trial& trial : *results) {
      if (trial.perf_ms && trial.config.id() % 2 == 0) *trial.perf_ms *= 3;
    }
  };
  const std::vector<Trial> other = SearchOnce(kNoiseOfRepetition, first, 80, slow_down);
  EXPECT_EQ(other.size(), 80u);
  EXPECT_LT(CountEqual(other, first), 75u);
}

bool CompilesForLong(const codegen::Config& config) { return std::stoi(config.json().Find("num_warps")->text) >= 8; }

// Configs with many warps compile for ten times as long, which a search without earlier results would learn.
TEST(EarlierResultsTest, ARepeatedSearchProposesConfigsThatCompileForLong) {
  const Change compile_for_long = [](std::vector<Trial>* trials) {
    for (Trial& trial : *trials) trial.compile_s = CompilesForLong(trial.config) ? 1 : 0.1;
  };
  const auto size_of = [](const codegen::Config& config) {
    return codegen::CodeSize{.characters = CompilesForLong(config) ? 1e4 : 100};
  };
  const std::vector<Trial> first = SearchOnce(0, {});
  const auto long_ones =
      std::count_if(first.begin(), first.end(), [](const Trial& trial) { return CompilesForLong(trial.config); });
  ASSERT_GT(long_ones, 5);
  EXPECT_EQ(SortedIds(SearchOnce(kNoiseOfRepetition, first, 80, compile_for_long, 5, size_of)), SortedIds(first));
}

TEST(EarlierResultsTest, AFailureIsAnotherResult) {
  const PointSpace space(LibraryConfigSpace(kRepeatedKernel));
  const codegen::Config config = space.ToConfig(space.Default());
  EarlierResults earlier(space, {{config, 0.5}});
  for (int i = 0; i < 2; ++i) earlier.Compare({.point = space.Default()});
  EXPECT_TRUE(earlier.Agree());
  earlier.Compare({.point = space.Default()});
  EXPECT_FALSE(earlier.Agree());
}

TEST(EarlierResultsTest, TimesMayDifferByATenth) {
  const PointSpace space(LibraryConfigSpace(kRepeatedKernel));
  EarlierResults earlier(space, {{space.ToConfig(space.Default()), 0.5}});
  for (int i = 0; i < 3; ++i) earlier.Compare({.point = space.Default(), .perf_ms = 0.549});
  EXPECT_TRUE(earlier.Agree());
  for (int i = 0; i < 3; ++i) earlier.Compare({.point = space.Default(), .perf_ms = 0.56});
  EXPECT_FALSE(earlier.Agree());
}

TEST(EarlierResultsTest, TimesOfSlowConfigsMayDifferByHalf) {
  const PointSpace space(LibraryConfigSpace(kRepeatedKernel));
  const Point slow = space.Neighbours(space.Default()).front();
  EarlierResults earlier(space, {{space.ToConfig(space.Default()), 0.5}, {space.ToConfig(slow), 1.3}});
  for (int i = 0; i < 3; ++i) earlier.Compare({.point = slow, .perf_ms = 1.1});
  EXPECT_TRUE(earlier.Agree());
  for (int i = 0; i < 3; ++i) earlier.Compare({.point = slow, .perf_ms = 0.9});
  EXPECT_FALSE(earlier.Agree()) << "0.9 is not slow";
}

}  // namespace
}  // namespace telemetry::worker::tune::search
