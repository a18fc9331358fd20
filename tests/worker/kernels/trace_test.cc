// Compares the IR of every kernel of the library, evaluated on the host, with the kernel's independent reference.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "proto/record/strings.h"
#include "tests/worker/kernels/test_problems.h"
#include "worker/ir/reference/reference.h"
#include "worker/kernels/draw.h"
#include "worker/kernels/trace_problem.h"

namespace telemetry::worker::kernels {
namespace {

struct Parameter {
  const LibraryKernel* kernel;
  NamedProblem problem;
};

// Prints a parameter for GoogleTest.
void PrintTo(const Parameter& parameter, std::ostream* out) { *out << parameter.problem.problem.ToString(); }

std::vector<Parameter> AllProblems() {
  std::vector<Parameter> all;
  for (const LibraryKernel* kernel : AllKernels()) {
    for (NamedProblem& problem : TestProblems(*kernel)) all.push_back({kernel, std::move(problem)});
  }
  return all;
}

class KernelTraceTest : public testing::TestWithParam<Parameter> {
 protected:
  void SetUp() override {
    absl::StatusOr<ir::DeviceIr> traced = TraceProblem(kernel(), problem());
    ASSERT_TRUE(traced.ok()) << traced.status();
    device_ir_ = *std::move(traced);
    case_ = MakeCase(kernel(), problem(), /*seed=*/7);
    expected_ = kernel().reference(case_);
  }

  const LibraryKernel& kernel() const { return *GetParam().kernel; }
  const Problem& problem() const { return GetParam().problem.problem; }

  // Returns the axes of the root's rolled alternate with the most axes, or an empty list if there is no alternate.
  std::vector<int> AxesThatRoll() const {
    std::vector<int> most;
    for (const ir::RolledReduction& rolled : device_ir_.rolled) {
      if (rolled.original_graph == device_ir_.root && rolled.axes.size() > most.size()) most = rolled.axes;
    }
    return most;
  }

  // Evaluates the IR and returns its differences from the reference, or "".
  std::string Evaluate(int64_t block, std::vector<int> rolled_axes) {
    ir::reference::Tensors tensors;
    for (const TensorSpec& spec : problem().tensors) tensors.push_back(case_.tensor(spec.name));
    const ir::reference::Options options = {.default_block = block,
                                            .rolled_axes = std::move(rolled_axes),
                                            .scalars = {problem().numbers.begin(), problem().numbers.end()}};
    if (absl::Status status = ir::reference::Evaluate(device_ir_, options, &tensors); !status.ok()) {
      return status.ToString();
    }
    Outputs actual;
    for (size_t i = 0; i < device_ir_.tensors.size(); ++i) {
      if (device_ir_.tensors[i].is_output) actual.emplace(device_ir_.tensors[i].name, tensors[i]);
    }
    return Mismatch(kernel(), problem(), expected_, actual);
  }

  ir::DeviceIr device_ir_;
  Case case_;
  Outputs expected_;
};

TEST_P(KernelTraceTest, MatchesTheReference) {
  EXPECT_EQ(Evaluate(/*block=*/16, /*rolled_axes=*/{}), "");
  EXPECT_EQ(Evaluate(/*block=*/64, AxesThatRoll()), "");
}

TEST_P(KernelTraceTest, OutputsHaveTheReferencesSizesAndDTypes) {
  for (const TensorSpec& output : ListOutputs(device_ir_)) {
    ASSERT_EQ(expected_.count(output.name), 1u) << output.name;
    EXPECT_EQ(output.sizes, expected_.at(output.name).sizes);
    EXPECT_EQ(output.dtype, expected_.at(output.name).dtype);
  }
}

INSTANTIATE_TEST_SUITE_P(Library, KernelTraceTest, testing::ValuesIn(AllProblems()), [](const auto& info) {
  return record::Cat(info.param.kernel->name, "_", info.param.problem.name);
});

}  // namespace
}  // namespace telemetry::worker::kernels
