#include "worker/wrapper/run_plan.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/environment.h"
#include "tests/worker/wrapper/plan_outputs.h"
#include "tests/worker/wrapper/random_plan.h"
#include "tests/worker/wrapper/sample_plans.h"
#include "worker/ir/compare.h"
#include "worker/wrapper/memory_plan.h"

namespace telemetry::worker::wrapper {
namespace {

using device::DType;
using runtime::Tensor;

class RunPlanTest : public ::testing::Test {
 protected:
  // Expects that the device gives the results of the host, with and without memory planning.
  void ExpectTheHostsResults(const absl::StatusOr<Plan>& plan, DType precision = DType::kF32) {
    ASSERT_TRUE(plan.ok()) << plan.status();
    const std::vector<Tensor> inputs = MakeInputs(*plan, 1);
    const std::vector<ir::HostArray> expected = PlanOutputs(*plan, nullptr, inputs);
    ASSERT_EQ(expected.size(), plan->outputs.size());
    // On CUDA dots of f32 have ten bits of mantissa (Settings::dot_precision), and exp amplifies the error of a score.
    if (device_->properties().dialect == device::Dialect::kCuda && precision == DType::kF32) precision = DType::kBF16;
    for (const Plan& run : {*plan, PlanMemory(*plan)->plan}) {
      const std::vector<ir::HostArray> actual = PlanOutputs(run, device_, inputs);
      ASSERT_EQ(actual.size(), expected.size());
      for (size_t i = 0; i < actual.size(); ++i) {
        const ir::Comparison comparison = ir::Compare(expected[i], actual[i], ir::ToleranceFor(precision));
        EXPECT_TRUE(comparison.ok()) << run.DebugString() << "output " << i << ": " << comparison.ToString();
      }
    }
  }

  const std::shared_ptr<device::Device> device_ = TestDevice();
};

TEST_F(RunPlanTest, LayerNorm) { ExpectTheHostsResults(LayerNormPlan()); }
TEST_F(RunPlanTest, Attention) { ExpectTheHostsResults(AttentionPlan()); }
TEST_F(RunPlanTest, AttentionInF16) { ExpectTheHostsResults(AttentionPlan(DType::kF16), DType::kF16); }
TEST_F(RunPlanTest, GatedMlp) { ExpectTheHostsResults(GatedMlpPlan()); }

TEST_F(RunPlanTest, RowUpdate) { ExpectTheHostsResults(RowUpdatePlan()); }
TEST_F(RunPlanTest, RowUpdateInBF16) { ExpectTheHostsResults(RowUpdatePlan(DType::kBF16), DType::kBF16); }

TEST_F(RunPlanTest, ElementUpdate) { ExpectTheHostsResults(ElementUpdatePlan()); }
TEST_F(RunPlanTest, ElementUpdateInBF16) { ExpectTheHostsResults(ElementUpdatePlan(DType::kBF16), DType::kBF16); }

TEST_F(RunPlanTest, Joined) { ExpectTheHostsResults(JoinedPlan()); }
TEST_F(RunPlanTest, JoinedInBF16) { ExpectTheHostsResults(JoinedPlan(DType::kBF16), DType::kBF16); }

TEST_F(RunPlanTest, JoinsAlongTheMiddleDimension) {
  PlanBuilder b("middle");
  const BufferRef x = b.Input("x", DType::kI32, {2, 1, 2});
  const BufferRef y = b.Input("y", DType::kI32, {2, 2, 2}, {1, 2, 4});
  const BufferRef none = b.Input("none", DType::kI32, {2, 0, 2});
  b.Output(b.Concatenate({x, none, y}, 1));
  const Plan plan = *b.Finish();
  std::vector<Tensor> inputs = MakeInputs(plan, 1);
  inputs[0].host->data = {1, 2, 3, 4};
  inputs[1].host->data = {10, 20, 30, 40, 50, 60, 70, 80};
  const std::vector<double> expected = {1, 2, 10, 50, 30, 70, 3, 4, 20, 60, 40, 80};
  for (const std::shared_ptr<device::Device>& device : {device_, std::shared_ptr<device::Device>()}) {
    EXPECT_EQ(PlanOutputs(plan, device, inputs)[0].data, expected);
  }
}

// Elements are written in row-major order, elements out of range are not written, and NaN is kept.
TEST_F(RunPlanTest, WritesElementsInTheirOrder) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::pair<Reduction, std::vector<double>> cases[] = {
      {Reduction::kNone, {1, 30, 20, 4, 5, 40}},      {Reduction::kSum, {1, 32, 33, 4, 5, 46}},
      {Reduction::kProduct, {1, 60, 600, 4, 5, 240}}, {Reduction::kMax, {1, 30, 20, 4, 5, 40}},
      {Reduction::kMin, {1, 2, 3, 4, 5, 6}},          {Reduction::kMean, {1, 16, 11, 4, 5, 23}}};
  for (const auto& [reduction, wanted] : cases) {
    PlanBuilder b("elements");
    const BufferRef target = b.Call("add", {b.Input("x", DType::kF32, {2, 3}), b.Input("y", DType::kF32, {2, 3})})[0];
    const BufferRef places = b.Input("places", DType::kI32, {2, 4});
    const BufferRef values = b.Input("values", DType::kF32, {2, 4});
    b.Scatter(target, 1, places, values, reduction);
    b.Output(target);
    const absl::StatusOr<Plan> plan = b.Finish();
    ASSERT_TRUE(plan.ok()) << plan.status();
    std::vector<Tensor> inputs = MakeInputs(*plan, 1);
    inputs[0].host->data = {1, 2, 3, 4, 5, 6};
    inputs[1].host->data = {0, 0, 0, 0, 0, 0};
    inputs[2].host->data = {2, 2, 1, 3, -1, 9, 2, -7};
    inputs[3].host->data = {10, 20, 30, 99, 98, 97, 40, 96};
    std::vector<double> expected = wanted;
    for (const std::shared_ptr<device::Device>& device : {device_, std::shared_ptr<device::Device>()}) {
      EXPECT_EQ(PlanOutputs(*plan, device, inputs)[0].data, expected) << ReductionName(reduction);
    }
    inputs[3].host->data[0] = nan;
    const double first = PlanOutputs(*plan, nullptr, inputs)[0].data[2];
    EXPECT_EQ(std::isnan(first), reduction != Reduction::kNone) << ReductionName(reduction);
  }
}

TEST_F(RunPlanTest, BothBranchesOfConditionals) {
  const Plan plan = *RoutedPlan();
  std::vector<std::vector<double>> results;
  for (const double is_normed : {0, 1}) {
    for (const double is_doubled : {0, 7}) {
      std::vector<Tensor> inputs = MakeInputs(plan, 1);
      inputs[2].host->data = {is_normed};
      inputs[3].host->data = {is_doubled};
      const std::vector<double> expected = PlanOutputs(plan, nullptr, inputs)[0].data;
      for (const Plan& run : {plan, PlanMemory(plan)->plan}) {
        EXPECT_EQ(PlanOutputs(run, nullptr, inputs)[0].data, expected);
        const ir::HostArray actual = PlanOutputs(run, device_, inputs)[0];
        const ir::HostArray wanted = {
            .dtype = actual.dtype, .sizes = actual.sizes, .strides = actual.strides, .data = expected};
        EXPECT_TRUE(ir::Compare(wanted, actual, ir::ToleranceFor(DType::kF32)).ok());
      }
      results.push_back(expected);
    }
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_NE(results[0], results[2]);
  EXPECT_NE(results[2], results[3]);
}

// A predicate may be on the host while the plan runs on a device. Other inputs may not.
TEST_F(RunPlanTest, PredicatesOnTheHost) {
  const Plan plan = *RoutedPlan();
  const auto runner = PlanRunner::Create(plan, device_);
  ASSERT_TRUE(runner.ok()) << runner.status();
  std::vector<Tensor> inputs = MakeInputs(plan, 1);
  inputs[2].host->data = {1};
  inputs[3].host->data = {1};
  const std::vector<double> expected = PlanOutputs(plan, device_, inputs)[0].data;
  for (const size_t i : {0, 1}) inputs[i] = *runtime::ToDevice(device_, *inputs[i].host);
  const auto outputs = (*runner)->Run(inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(ToHost(outputs->at(0))->data, expected);
  inputs[1] = MakeInputs(plan, 1)[1];
  EXPECT_THAT(std::string((*runner)->Run(inputs).status().message()),
              ::testing::HasSubstr("input 'weight' (f32[32]): is Tensor(f32, [32], strides [1], cpu)"));
}

// A predicate that a kernel computes, and one that is a view.
TEST_F(RunPlanTest, PredicatesOfThePlan) {
  PlanBuilder b("computed");
  const BufferRef x = b.Input("x", DType::kF32, {4, 8});
  const BufferRef flag = b.Input("flag", DType::kI32, {1, 1});
  const BufferRef other = b.Input("other", DType::kI32, {1, 1});
  const BufferRef sum = b.Call("add", {flag, other})[0];
  const BufferRef out = b.Call("exp", {x})[0];
  b.If(sum);
  b.Call("add", {x, x}, {.into = {out}});
  b.If(b.View(sum, {}, {}, 0));
  b.EndIf();
  b.EndIf();
  b.Output(out);
  const Plan plan = *b.Finish();
  for (const double given : {-1, 0}) {  // 1 is added
    std::vector<Tensor> inputs = MakeInputs(plan, 1);
    inputs[1].host->data = {given};
    inputs[2].host->data = {1};
    for (const std::shared_ptr<device::Device>& device : {device_, std::shared_ptr<device::Device>()}) {
      const double first = PlanOutputs(PlanMemory(plan)->plan, device, inputs)[0].data[0];
      const double element = inputs[0].host->data[0];
      EXPECT_NEAR(first, given == -1 ? std::exp(element) : 2 * element, 1e-4);
    }
  }
}

// TELEMETRY_RANDOM_PLANS=300 checks more of them.
TEST_F(RunPlanTest, RandomPlans) {
  const auto count = static_cast<uint64_t>(NumberFromEnvironment("TELEMETRY_RANDOM_PLANS", 8));
  for (uint64_t seed = 1; seed <= count; ++seed) {
    SCOPED_TRACE(seed);
    ExpectTheHostsResults(RandomPlan(seed, {.for_programs = true}), DType::kF16);
  }
}

// Rows are written in the order of the indices, and rows out of range are not written.
TEST_F(RunPlanTest, WritesRowsInTheirOrder) {
  for (const bool accumulate : {false, true}) {
    PlanBuilder b("rows");
    const BufferRef target = b.Call("add", {b.Input("x", DType::kF32, {3, 2}), b.Input("y", DType::kF32, {3, 2})})[0];
    const BufferRef rows = b.Input("rows", DType::kI32, {5});
    const BufferRef values = b.Input("values", DType::kF32, {5, 2});
    b.IndexPut(target, rows, values, accumulate);
    b.Output(target);
    const Plan plan = *b.Finish();
    std::vector<Tensor> inputs = MakeInputs(plan, 1);
    inputs[0].host->data = {1, 2, 3, 4, 5, 6};
    inputs[1].host->data = {0, 0, 0, 0, 0, 0};
    inputs[2].host->data = {2, -1, 0, 2, 3};
    inputs[3].host->data = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
    const std::vector<double> expected =
        accumulate ? std::vector<double>{51, 62, 3, 4, 85, 106} : std::vector<double>{50, 60, 3, 4, 70, 80};
    for (const std::shared_ptr<device::Device>& device : {device_, std::shared_ptr<device::Device>()}) {
      EXPECT_EQ(PlanOutputs(plan, device, inputs)[0].data, expected);
    }
  }
}

TEST_F(RunPlanTest, UnpacksAndTakesConfigs) {
  PlanBuilder b("packed");
  const BufferRef x = b.Input("x", DType::kF32, {4, 8});
  const BufferRef w = b.Input("w", DType::kF32, {8});
  const CallOutputs norm = b.CallExternAllocating("layer_norm", {x, w, w});
  b.Output(norm[2]);
  b.Output(b.Call("softmax", {norm[0]}, {.config = *codegen::Config::Parse("Config(block_sizes=[2])")})[0]);
  ExpectTheHostsResults(b.Finish());
}

// Checks a view of the lower half of a matrix, at an offset where a buffer of the device can begin.
TEST_F(RunPlanTest, ViewsThatBeginInside) {
  PlanBuilder b("views");
  const BufferRef made = b.Call("exp", {b.Input("x", DType::kF32, {64, 32})}, {.names = {"made"}})[0];
  b.Output(b.Call("softmax", {b.View(made, {32, 32}, {32, 1}, 1024)})[0]);
  ExpectTheHostsResults(b.Finish());
}

TEST_F(RunPlanTest, AViewThatCannotBeginThereNamesItsLine) {
  PlanBuilder b("views");
  const BufferRef made = b.Call("exp", {b.Input("x", DType::kF32, {4, 8})}, {.names = {"made"}})[0];
  b.Output(b.Call("softmax", {b.View(made, {2, 8}, {8, 1}, 16, "half")})[0]);
  const Plan plan = *b.Finish();
  const auto runner = PlanRunner::Create(plan, device_);
  const Tensor x = *runtime::ToDevice(device_, *MakeInputs(plan, 1)[0].host);
  const absl::Status status = (*runner)->Run({x}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("(call softmax(x=half) -> out=buf0)"));
}

TEST_F(RunPlanTest, RefusesOtherInputs) {
  const auto runner = PlanRunner::Create(*LayerNormPlan(), nullptr);
  ASSERT_TRUE(runner.ok()) << runner.status();
  EXPECT_THAT(std::string((*runner)->Run({}).status().message()),
              ::testing::HasSubstr("has 3 inputs, but 0 are given"));
  std::vector<Tensor> inputs = MakeInputs((*runner)->plan(), 1);
  inputs[1] = Tensor::OnHost(ir::HostArray::Dense(DType::kF16, {64}));
  const absl::Status status = (*runner)->Run(inputs).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("input 'weight' (f32[64]): is Tensor(f16, [64], strides [1], cpu)"));
}

}  // namespace
}  // namespace telemetry::worker::wrapper
