#include "worker/replay/stored_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/worker/replay/stored_runs.h"
#include "worker/replay/replayed_search.h"

namespace telemetry::worker::replay {
namespace {

using codegen::ConfigParameter;

StoredRun RunOf(const std::vector<std::string>& texts) {
  StoredRun run;
  for (const std::string& text : texts) run.configs.push_back({.config = ConfigOf(text), .perf_ms = 1, .cost_s = 1});
  return run;
}

TEST(StoredSpaceTest, HasTheKindsOfTheValues) {
  const StoredRun run =
      RunOf({"Config(block_sizes=[16, 1], loop_orders=[[0, 1]], reduction_loops=[None], stages=1, pid='flat')",
             "Config(block_sizes=[64, 4], loop_orders=[[1, 0]], reduction_loops=[256], stages=3, pid='blocked')",
             "Config(block_sizes=[64, 1], loop_orders=[[1, 0]], reduction_loops=[64], stages=2, unroll=True)"});
  const StoredSpace stored = StoredSpace::Create(run).value();
  EXPECT_EQ(stored.space().DebugString(),
            "block_sizes[0]: a power of two from 16 to 64, default 16\n"
            "block_sizes[1]: a power of two from 1 to 4, default 1\n"
            "loop_orders[0]: a permutation of 0 to 1, default [0, 1]\n"
            "pid: one of None, 'blocked', 'flat', default 'flat'\n"
            "reduction_loops[0]: a power of two from 64 to 256, or None, default None\n"
            "stages: an integer from 1 to 3, default 1\n"
            "unroll: one of None, True, default None\n");
  EXPECT_DOUBLE_EQ(stored.coverage(), 3.0 / (2 * 2 * 2 * 3 * 3 * 3 * 2));
}

TEST(StoredSpaceTest, AllowsOnlyStoredConfigs) {
  const StoredRun run = RunOf({"Config(a=1, b=2)", "Config(a=2, b=1)"});
  const StoredSpace stored = StoredSpace::Create(run).value();
  EXPECT_EQ(stored.Find(stored.space().Normalize(ConfigOf("Config(a=2, b=1)")).value()), 1U);
  EXPECT_THAT(std::string(stored.space().Normalize(ConfigOf("Config(a=1, b=1)")).status().message()),
              testing::HasSubstr("the dataset has no such config"));
}

// Algorithms that step to neighbours and mix configs propose stored configs only, and a random search finds all.
TEST(StoredSpaceTest, EveryAlgorithmStaysInASparseSpace) {
  StoredRun run = ValleyRun();
  std::vector<StoredConfig> some;
  for (size_t i = 0; i < run.configs.size(); i += 3) some.push_back(run.configs[i]);
  run.configs = some;
  const StoredSpace space = StoredSpace::Create(run).value();
  for (const std::string& algorithm : ReplayableAlgorithms()) {
    const auto trials = ReplaySearch(run, space, {.algorithm = algorithm}, 1);
    ASSERT_TRUE(trials.ok()) << algorithm << ": " << trials.status();
    EXPECT_GT(trials->size(), 50U) << algorithm;
    EXPECT_LE(trials->size(), run.configs.size()) << algorithm;
  }
  EXPECT_EQ(ReplaySearch(run, space, {.algorithm = "random"}, 1)->size(), run.configs.size());
}

TEST(StoredSpaceTest, RefusesARunWithoutConfigs) {
  EXPECT_EQ(StoredSpace::Create({}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace telemetry::worker::replay
