#include "worker/wrapper/program/plan_values.h"

#include "gtest/gtest.h"
#include "tests/worker/wrapper/program/program_fixture.h"
#include "tests/worker/wrapper/sample_plans.h"
#include "worker/ir/compare.h"
#include "worker/kernels/draw.h"
#include "worker/kernels/library.h"
#include "worker/kernels/problem.h"
#include "worker/wrapper/launch_plan.h"
#include "worker/wrapper/run_plan.h"

namespace telemetry::worker::wrapper::program {
namespace {

using device::DType;
using runtime::Tensor;

// Checks that a plan of one launch gets the inputs that the tuner draws from the seed.
TEST(PlanValuesTest, InputsOfOneLaunchAreMakeCases) {
  for (const kernels::LibraryKernel* kernel : kernels::AllKernels()) {
    kernels::Sizes sizes = kernel->default_sizes;
    for (auto& [name, size] : sizes) size = std::min<int64_t>(size, 32);
    for (const DType dtype : kernel->dtypes) {
      const kernels::Problem problem = kernels::MakeProblem(*kernel, dtype, sizes);
      const auto plan = PlanOfLaunch(*kernel, problem, std::nullopt);
      ASSERT_TRUE(plan.ok()) << plan.status();
      const kernels::Case made = kernels::MakeCase(*kernel, problem, 5);
      const auto inputs = DrawInputs(*plan, InputRanges(*plan), 5);
      ASSERT_EQ(inputs.size(), kernel->tensors.size());
      for (size_t i = 0; i < inputs.size(); ++i) {
        EXPECT_EQ(inputs[i], made.tensor(kernel->tensors[i].name).data) << problem.ToString() << " input " << i;
      }
    }
  }
}

TEST(PlanValuesTest, RangesAreTheFirstReadersThroughViews) {
  const std::vector<kernels::DrawRange> ranges = InputRanges(*NormedLossPlan());
  ASSERT_EQ(ranges.size(), 4);
  EXPECT_EQ(ranges[0].low, -1);  // layer_norm's
  EXPECT_EQ(ranges[0].high, 3);
  EXPECT_EQ(ranges[3].low, 0);  // labels: of 48
  EXPECT_EQ(ranges[3].high, 48);
}

// Checks that running the references one after the other gives the results of running the plan on the host.
TEST(PlanValuesTest, ValuesAreThoseOfTheHostsRun) {
  for (const Plan& plan : FivePlans()) {
    const auto inputs = DrawInputs(plan, InputRanges(plan), 3);
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const PlanBuffer& input = plan.buffer(plan.inputs[i]);
      tensors.push_back(
          Tensor::OnHost({.dtype = input.dtype, .sizes = input.sizes, .strides = input.strides, .data = inputs[i]}));
    }
    const auto results = EvaluatePlan(plan, inputs);
    ASSERT_TRUE(results.ok()) << results.status();
    const auto runner = PlanRunner::Create(plan, nullptr);
    ASSERT_TRUE(runner.ok()) << runner.status();
    const auto outputs = (*runner)->Run(tensors);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    const std::vector<ir::Tolerance> tolerances = OutputTolerances(plan, false);
    for (size_t i = 0; i < outputs->size(); ++i) {
      const PlanBuffer& output = plan.buffer(plan.outputs[i]);
      const ir::HostArray expected{.dtype = output.dtype,
                                   .sizes = output.sizes,
                                   .strides = ir::RowMajorStrides(output.sizes),
                                   .data = results->at(i)};
      const ir::Comparison comparison = ir::Compare(expected, *outputs->at(i).host, tolerances[i]);
      EXPECT_TRUE(comparison.ok()) << plan.name << " output " << i << ": " << comparison.ToString();
    }
  }
}

TEST(PlanValuesTest, TolerancesAreTheKernelsOrThoseOfWhatIsBetween) {
  const auto absolute = [](const absl::StatusOr<Plan>& plan, bool coarse) {
    return OutputTolerances(*plan, coarse)[0].absolute;
  };
  EXPECT_EQ(absolute(LayerNormPlan(), false), 1e-5);
  EXPECT_EQ(absolute(AttentionPlan(), false), ir::ToleranceFor(DType::kF32).absolute);
  EXPECT_EQ(absolute(AttentionPlan(), true), ir::ToleranceFor(DType::kF16).absolute);
  EXPECT_EQ(absolute(AttentionPlan(DType::kF16), false), ir::ToleranceFor(DType::kF16).absolute);
}

}  // namespace
}  // namespace telemetry::worker::wrapper::program
