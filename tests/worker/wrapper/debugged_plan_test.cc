// Tests that a debugger sees the values of a plan while it runs.

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "tests/client/small_disk.h"
#include "tests/worker/debug/counting_device.h"
#include "tests/worker/debug/debug_fixture.h"
#include "tests/worker/wrapper/plan_outputs.h"
#include "tests/worker/wrapper/random_plan.h"
#include "tests/worker/wrapper/sample_plans.h"
#include "worker/wrapper/memory_plan.h"
#include "worker/wrapper/run_plan.h"

namespace telemetry::worker::wrapper {
namespace {

using device::Device;
using device::DType;
using runtime::Tensor;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class DebuggedPlanTest : public debug::DebugTest {
 protected:
  // Runs the plan and returns its outputs. The fixture keeps the printed lines and the saved files.
  std::vector<ir::HostArray> Run(const Plan& plan, debug::DebugOptions options, const std::vector<Tensor>& inputs,
                                 const std::shared_ptr<Device>& device) {
    options.folder = folder_;
    printed_.clear();
    debugger_ = debug::ValueDebugger::Create(std::move(options), Print());
    return PlanOutputs(plan, device, inputs, debugger_.get());
  }
  std::vector<ir::HostArray> Run(const Plan& plan, debug::DebugOptions options) {
    return Run(plan, std::move(options), MakeInputs(plan, 1), device_);
  }
  // Returns the first words of each printed line: "[before_launch - bmm - x]".
  std::vector<std::string> Heads() const {
    std::vector<std::string> heads;
    for (const std::string& line : printed_) heads.push_back(line.substr(0, line.find(']') + 1));
    return heads;
  }

  std::unique_ptr<debug::ValueDebugger> debugger_;
};

TEST_F(DebuggedPlanTest, Level0AsksNothingMoreOfTheDevice) {
  const Plan plan = *AttentionPlan();
  const auto calls = [&](std::optional<debug::DebugLevel> level) {
    const auto counting = std::make_shared<CountingDevice>(device_);
    if (level.has_value()) {
      Run(plan, {.level = *level}, MakeInputs(plan, 1), counting);
    } else {
      const auto runner = PlanRunner::Create(plan, counting);
      std::vector<Tensor> inputs = MakeInputs(plan, 1);
      for (Tensor& input : inputs) input = *runtime::ToDevice(counting, *input.host);
      const std::vector<Tensor> outputs = (*runner)->Run(inputs).value();
      for (const Tensor& output : outputs) EXPECT_TRUE(ToHost(output).ok());
    }
    return counting->calls();
  };
  const DeviceCalls without = calls(std::nullopt);
  EXPECT_EQ(without, (DeviceCalls{.launches = 3, .copies = 4, .allocations = 6, .waits = 0}));
  EXPECT_EQ(calls(debug::DebugLevel::kOff), without);
  const DeviceCalls names = calls(debug::DebugLevel::kNames);
  EXPECT_EQ(names, (DeviceCalls{.launches = 3, .copies = 4, .allocations = 6, .waits = 3}));
  EXPECT_GT(calls(debug::DebugLevel::kPrint).launches, 3 + 3);
  EXPECT_GT(calls(debug::DebugLevel::kSave).copies, 4 + 16);
}

TEST_F(DebuggedPlanTest, NoLevelChangesTheResults) {
  for (const absl::StatusOr<Plan>& made : {AttentionPlan(DType::kF16), GatedMlpPlan(), LayerNormPlan()}) {
    const Plan plan = PlanMemory(*made)->plan;
    for (const std::shared_ptr<Device>& device : {device_, std::shared_ptr<Device>()}) {
      const std::vector<ir::HostArray> expected = Run(plan, {}, MakeInputs(plan, 1), device);
      for (const debug::DebugLevel level :
           {debug::DebugLevel::kSave, debug::DebugLevel::kPrint, debug::DebugLevel::kNames}) {
        const std::vector<ir::HostArray> actual = Run(plan, {.level = level}, MakeInputs(plan, 1), device);
        ASSERT_EQ(actual.size(), expected.size());
        for (size_t i = 0; i < actual.size(); ++i) EXPECT_EQ(actual[i].data, expected[i].data) << plan.name;
        EXPECT_EQ(debugger_->errors(), 0) << printed();
      }
    }
  }
}

TEST_F(DebuggedPlanTest, PrintsInputsThenTheArgumentsOfEachCall) {
  Run(*AttentionPlan(), {.level = debug::DebugLevel::kPrint});
  EXPECT_THAT(
      Heads(),
      ElementsAre("[program_inputs - attention - q]", "[program_inputs - attention - k]",
                  "[program_inputs - attention - v]", "[before_launch - bmm - x]", "[before_launch - bmm - y]",
                  "[before_launch - bmm - out]", "[after_launch - bmm - x]", "[after_launch - bmm - y]",
                  "[after_launch - bmm - out]", "[before_launch - softmax - x]", "[before_launch - softmax - out]",
                  "[after_launch - softmax - x]", "[after_launch - softmax - out]", "[before_launch - bmm - x]",
                  "[before_launch - bmm - y]", "[before_launch - bmm - out]", "[after_launch - bmm - x]",
                  "[after_launch - bmm - y]", "[after_launch - bmm - out]"));
  EXPECT_THAT(printed_, Contains(StartsWith("[after_launch - softmax - x] buffer=score_rows elements=1024 "
                                            "sizes=[32, 32] strides=[32, 1] dtype=f32 mean=")));
}

TEST_F(DebuggedPlanTest, ShowsScalarsAndFlags) {
  Run(*LayerNormPlan(), {.level = debug::DebugLevel::kPrint});
  EXPECT_THAT(printed_, Contains("[before_launch - layer_norm - eps] 0.5 (float)"));
}

TEST_F(DebuggedPlanTest, OfExternKernelsOnlyTensors) {
  PlanBuilder b("extern");
  const BufferRef w = b.Input("w", DType::kF32, {8});
  const CallOutputs norm = b.CallExternAllocating("layer_norm", {b.Input("x", DType::kF32, {4, 8}), w, w});
  b.Output(norm[0]);
  const Plan plan = *b.Finish();
  for (const std::shared_ptr<Device>& device : {device_, std::shared_ptr<Device>()}) {
    Run(plan, {.level = debug::DebugLevel::kPrint, .kernels = {"layer_norm"}}, MakeInputs(plan, 1), device);
    EXPECT_THAT(Heads(), Contains("[after_launch - layer_norm - rstd]"));
    EXPECT_THAT(printed(), Not(HasSubstr("eps")));
  }
}

TEST_F(DebuggedPlanTest, OfWrittenRowsTheTargetBeforeAndAfter) {
  const Plan plan = *RowUpdatePlan();
  std::vector<Tensor> inputs = MakeInputs(plan, 1);
  for (const std::shared_ptr<Device>& device : {device_, std::shared_ptr<Device>()}) {
    Run(plan, {.level = debug::DebugLevel::kPrint, .kernels = {"index_put"}}, inputs, device);
    EXPECT_THAT(Heads(), Contains("[before_launch - index_put - target]"));
    EXPECT_THAT(Heads(), Contains("[after_launch - index_put - indices]"));
    EXPECT_THAT(printed_, Contains(StartsWith("[after_launch - index_put - target] buffer=updated elements=4096")));
    EXPECT_THAT(printed(), Not(HasSubstr("(output)")));
  }
  // A NaN that the line writes is its own; softmax reads it later.
  for (double& element : inputs[2].host->data) element = 40;
  inputs[3].host->data[5] = std::numeric_limits<double>::quiet_NaN();
  Run(plan, {.level = debug::DebugLevel::kPrint, .kernels = {"index_put", "softmax_1"}}, inputs, device_);
  ASSERT_TRUE(debugger_->first_nan().has_value());
  EXPECT_THAT(printed(), HasSubstr("[first_nan] the first tensor with a NaN is "));
}

TEST_F(DebuggedPlanTest, OfScatteredElementsTheTargetBeforeAndAfter) {
  for (const std::shared_ptr<Device>& device : {device_, std::shared_ptr<Device>()}) {
    const Plan plan = *ElementUpdatePlan();
    Run(plan, {.level = debug::DebugLevel::kPrint, .kernels = {"scatter"}}, MakeInputs(plan, 1), device);
    EXPECT_THAT(Heads(), Contains("[before_launch - scatter - target]"));
    EXPECT_THAT(printed_, Contains(StartsWith("[after_launch - scatter - target] buffer=updated elements=384")));
    EXPECT_THAT(printed(), Not(HasSubstr("(output)")));
  }
}

TEST_F(DebuggedPlanTest, OfJoinedTensorsEachOne) {
  const Plan plan = *JoinedPlan();
  for (const std::shared_ptr<Device>& device : {device_, std::shared_ptr<Device>()}) {
    Run(plan, {.level = debug::DebugLevel::kPrint, .kernels = {"concatenate"}}, MakeInputs(plan, 1), device);
    EXPECT_THAT(Heads(), Contains("[before_launch - concatenate - tensors_2]"));
    EXPECT_THAT(printed_,
                Contains(StartsWith("[before_launch - concatenate - out] (output) buffer=rows elements=320")));
    EXPECT_THAT(printed_, Contains(StartsWith("[after_launch - concatenate - out] buffer=both elements=640")));
  }
}

TEST_F(DebuggedPlanTest, OfConditionalsOnlyTheLaunchesThatRun) {
  const Plan plan = *RoutedPlan();
  std::vector<Tensor> inputs = MakeInputs(plan, 1);
  const auto names = [&](double is_normed, double is_doubled, const std::shared_ptr<Device>& device) {
    inputs[2].host->data = {is_normed};
    inputs[3].host->data = {is_doubled};
    Run(plan, {.level = debug::DebugLevel::kNames}, inputs, device);
    std::vector<std::string> after;
    for (const std::string& line : printed_) {
      if (line.starts_with("[after_launch - ")) after.push_back(line.substr(16, line.size() - 17));
    }
    return after;
  };
  for (const std::shared_ptr<Device>& device : {device_, std::shared_ptr<Device>()}) {
    EXPECT_THAT(names(1, 1, device), ElementsAre("exp", "layer_norm", "add", "softmax_1", "exp_1"));
    EXPECT_THAT(names(1, 0, device), ElementsAre("exp", "layer_norm", "softmax", "softmax_1", "exp_1"));
    EXPECT_THAT(names(0, 1, device), ElementsAre("exp", "softmax", "add", "softmax", "add", "softmax_1", "exp_1"));
    Run(plan, {.level = debug::DebugLevel::kPrint, .kernels = {"add"}}, inputs, device);
    EXPECT_THAT(printed_, Contains(StartsWith("[program_inputs - routed - is_normed] elements=1 sizes=[1]")));
    EXPECT_THAT(printed_, Contains(StartsWith("[after_launch - add - out] buffer=routed_rows elements=512 ")));
    EXPECT_EQ(debugger_->errors(), 0) << printed();
  }
}

TEST_F(DebuggedPlanTest, SavesWhatTheKernelsOfThatNameAreGiven) {
  Run(*AttentionPlan(), {.level = debug::DebugLevel::kSave, .kernels = {"SOFTMAX"}});
  EXPECT_THAT(Files(), ElementsAre("after_launch_softmax_out.npy", "after_launch_softmax_x.npy",
                                   "before_launch_softmax_out.npy", "before_launch_softmax_x.npy"));
}

TEST_F(DebuggedPlanTest, PrintsTheNamesOfAllKernels) {
  Run(*AttentionPlan(), {.level = debug::DebugLevel::kNames, .kernels = {"softmax"}});
  EXPECT_THAT(printed_, ElementsAre("[before_launch - bmm]", "[after_launch - bmm]", "[before_launch - softmax]",
                                    "[after_launch - softmax]", "[before_launch - bmm]", "[after_launch - bmm]"));
}

// Checks that the first NaN is attributed to softmax, which computes infinity minus infinity, even if only later
// kernels are inspected.
TEST_F(DebuggedPlanTest, TheFirstNaNNamesTheKernelThatMadeIt) {
  const Plan plan = *AttentionPlan();
  std::vector<Tensor> inputs = MakeInputs(plan, 1);
  for (double& element : inputs[0].host->data) element = std::numeric_limits<double>::infinity();
  for (double& element : inputs[1].host->data) element = 1;
  for (const std::shared_ptr<Device>& device : {device_, std::shared_ptr<Device>()}) {
    for (const std::vector<std::string>& kernels : {std::vector<std::string>{}, {"bmm"}}) {
      Run(plan, {.level = debug::DebugLevel::kSave, .kernels = kernels}, inputs, device);
      ASSERT_TRUE(debugger_->first_nan().has_value());
      EXPECT_EQ(debugger_->first_nan()->kernel, "softmax");
      EXPECT_EQ(debugger_->first_nan()->tensor, kernels.empty() ? "weights" : "weight_batches");
      EXPECT_THAT(printed_, ElementsAre(StartsWith("[first_nan] the first tensor with a NaN is 'weight")));
    }
  }
}

TEST_F(DebuggedPlanTest, AFullDiskIsAnErrorAndTheRunGoesOn) {
  const Plan plan = *AttentionPlan();
  const std::vector<ir::HostArray> expected = Run(plan, {});
  const client::SmallDisk disk(folder_, 1 << 20);
  if (!disk.mounted()) GTEST_SKIP() << "this user may not mount anything";
  disk.Fill();
  const std::vector<ir::HostArray> actual = Run(plan, {.level = debug::DebugLevel::kSave});
  ASSERT_EQ(actual.size(), 1u);
  EXPECT_EQ(actual[0].data, expected[0].data);
  EXPECT_EQ(debugger_->errors(), 16);
  EXPECT_THAT(printed_, ElementsAre(AllOf(StartsWith("[error] cannot save values: cannot write "),
                                          HasSubstr("No space left on device"))));
}

}  // namespace
}  // namespace telemetry::worker::wrapper
