#include "worker/model/first_configs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "proto/record/json.h"
#include "tests/worker/model/h200_run.h"
#include "tests/worker/model/model_text.h"
#include "tests/worker/replay/stored_runs.h"
#include "worker/codegen/config_space.h"
#include "worker/codegen/target.h"
#include "worker/kernels/trace_problem.h"
#include "worker/replay/stored_space.h"

namespace telemetry::worker::model {
namespace {

codegen::ConfigSpace SoftmaxSpace() {
  const kernels::LibraryKernel& kernel = **kernels::FindKernel("softmax");
  const auto problem = kernels::ParseProblem(kernel, {"x=4096x2560:f16"});
  return codegen::ConfigSpaceFor(*kernels::TraceProblem(kernel, *problem), codegen::Target::For(H200()));
}

int64_t Warps(const codegen::Config& config) { return std::stoll(config.json().Find("num_warps")->text); }

// Prefers 8 warps, then 16 or more, and thread blocks with few threads on top.
CostModel PrefersEightWarps() {
  return *CostModel::Parse(ModelText(TreeText("num_warps", 8, 4, 0) + TreeText("num_warps", 16, 0, 1)));
}

TEST(FirstConfigsTest, AreTheBestOnesOfTheModel) {
  const codegen::ConfigSpace space = SoftmaxSpace();
  const RunFeatures features(SoftmaxRun(), H200());
  const CostModel model = PrefersEightWarps();
  const std::vector<codegen::Config> configs = FirstConfigs(space, features, model, {.count = 12, .sample = 300});
  ASSERT_EQ(configs.size(), 12U);
  std::set<std::string> distinct;
  for (const codegen::Config& config : configs) {
    EXPECT_EQ(Warps(config), 8) << config.ToString();
    EXPECT_TRUE(space.Normalize(config).ok());
    distinct.insert(config.ToString());
  }
  EXPECT_EQ(distinct.size(), 12U);
  EXPECT_EQ(FirstConfigs(space, features, model, {.count = 12, .sample = 300}), configs);
}

TEST(FirstConfigsTest, DifferInMoreThanOneParameter) {
  const codegen::ConfigSpace space = SoftmaxSpace();
  const std::vector<codegen::Config> configs =
      FirstConfigs(space, RunFeatures(SoftmaxRun(), H200()), PrefersEightWarps(), {.count = 10, .sample = 500});
  ASSERT_EQ(configs.size(), 10U);
  for (size_t i = 0; i < configs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      size_t differences = 0;
      for (const auto& [key, value] : configs[i].json().members) {
        const record::Json& other = *configs[j].json().Find(key);
        if (value.items.empty()) differences += value == other ? 0 : 1;
        for (size_t k = 0; k < value.items.size(); ++k) differences += value.items[k] == other.items[k] ? 0 : 1;
      }
      EXPECT_GE(differences, 2U) << configs[i].ToString() << " " << configs[j].ToString();
    }
  }
}

TEST(FirstConfigsTest, ASmallSpaceIsRankedCompletelyAndReturnedCompletely) {
  const replay::StoredRun run = replay::ValleyRun();
  const auto space = replay::StoredSpace::Create(run);
  ASSERT_TRUE(space.ok());
  // The parameters of the run are other[0] (a), other[1] (b) and other[2] (c).
  const auto model = CostModel::Parse(ModelText(TreeText("other[0]", 128, 1, 0) + TreeText("other[2]", 3, 1, 0)));
  ASSERT_TRUE(model.ok()) << model.status();
  const RunFeatures features(v1::Run(), std::nullopt);
  const auto some = FirstConfigs(space->space(), features, *model, {.count = 2});
  ASSERT_EQ(some.size(), 2U);
  EXPECT_EQ(some[0].json().Find("a")->text, "128");
  EXPECT_EQ(some[0].json().Find("c")->text, "3");
  EXPECT_EQ(FirstConfigs(space->space(), features, *model, {.count = 1000}).size(), run.configs.size());
}

TEST(FirstConfigsTest, OtherCandidatesAreRankedToo) {
  const codegen::ConfigSpace space = SoftmaxSpace();
  const RunFeatures features(SoftmaxRun(), H200());
  // Only this config has 4 thread blocks of 32 threads.
  const codegen::Config known = *space.Normalize(replay::ConfigOf("Config(block_sizes=[1], num_warps=32)"));
  const CostModel model = *CostModel::Parse(ModelText(TreeText("num_warps", 32, 1, 0)));
  const auto configs =
      FirstConfigs(space, features, model,
                   {.count = 1, .sample = 1, .climbs = 0, .also = {known, replay::ConfigOf("Config(zzz=1)")}});
  ASSERT_EQ(configs.size(), 1U);
  EXPECT_EQ(Warps(configs[0]), 32);
}

}  // namespace
}  // namespace telemetry::worker::model
