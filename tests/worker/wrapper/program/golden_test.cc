// Tests the text that is written for a plan. TELEMETRY_UPDATE_GOLDEN=1 rewrites golden/ instead of comparing.

#include <cstdlib>
#include <set>

#include "gtest/gtest.h"
#include "proto/record/sidecar/ir_record.h"
#include "tests/worker/wrapper/program/program_fixture.h"
#include "tests/worker/wrapper/sample_plans.h"
#include "worker/wrapper/memory_plan.h"
#include "worker/wrapper/wrapper_graph.h"

namespace telemetry::worker::wrapper::program {
namespace {

void ExpectGolden(const std::string& name, const absl::StatusOr<std::string>& program) {
  ASSERT_TRUE(program.ok()) << program.status();
  const std::string path = TELEMETRY_PROGRAM_TESTS "/golden/" + name;
  const std::string text = OwnText(*program);
  if (std::getenv("TELEMETRY_UPDATE_GOLDEN") != nullptr) WriteText(path, text);
  EXPECT_EQ(text, ReadText(path)) << path;
}

ProgramOptions OptionsFor(const codegen::Target& target) {
  return {.target = target, .seed = 7, .comments = {"run 0123456789abcdef on an NVIDIA H200"}, .measured_ms = 0.0125};
}

TEST(ProgramGoldenTest, Cuda) {
  for (const Plan& plan : FivePlans()) {
    ExpectGolden(plan.name + ".cuda.cpp.txt", CppProgram(plan, OptionsFor(CudaTarget())));
  }
}

TEST(ProgramGoldenTest, OpenCl) {
  for (const Plan& plan : FivePlans()) {
    ExpectGolden(plan.name + ".opencl.cpp.txt", CppProgram(plan, OptionsFor(OpenClTarget())));
  }
}

TEST(ProgramGoldenTest, Python) {
  for (const Plan& plan : FivePlans()) {
    ExpectGolden(plan.name + ".py.txt", PythonProgram(plan, OptionsFor(CudaTarget())));
  }
}

TEST(ProgramGoldenTest, Fx) {
  for (const Plan& plan : FivePlans()) {
    ExpectGolden(plan.name + ".fx.py.txt", FxProgram(plan, OptionsFor(CudaTarget())));
  }
  ExpectGolden("attention.opencl.fx.py.txt", FxProgram(FivePlans()[1], OptionsFor(OpenClTarget())));
}

TEST(ProgramGoldenTest, WrittenRows) {
  const Plan plan = PlanMemory(*RowUpdatePlan())->plan;
  ProgramOptions options = OptionsFor(CudaTarget());
  ExpectGolden("row_update.fx.py.txt", FxProgram(plan, options));
  options.debug = {.level = debug::DebugLevel::kPrint, .kernels = {"index_put"}};
  ExpectGolden("row_update.debug.cuda.cpp.txt", CppProgram(plan, options));
  ExpectGolden("row_update.debug.py.txt", PythonProgram(plan, options));
}

TEST(ProgramGoldenTest, ScatteredElements) {
  const Plan plan = PlanMemory(*ElementUpdatePlan())->plan;
  ProgramOptions options = OptionsFor(CudaTarget());
  ExpectGolden("element_update.fx.py.txt", FxProgram(plan, options));
  options.debug = {.level = debug::DebugLevel::kPrint, .kernels = {"scatter"}};
  ExpectGolden("element_update.debug.cuda.cpp.txt", CppProgram(plan, options));
  ExpectGolden("element_update.debug.py.txt", PythonProgram(plan, options));
}

TEST(ProgramGoldenTest, JoinedTensors) {
  const Plan plan = PlanMemory(*JoinedPlan())->plan;
  ProgramOptions options = OptionsFor(CudaTarget());
  ExpectGolden("joined.fx.py.txt", FxProgram(plan, options));
  options.debug = {.level = debug::DebugLevel::kPrint, .kernels = {"concatenate"}};
  ExpectGolden("joined.debug.cuda.cpp.txt", CppProgram(plan, options));
  ExpectGolden("joined.debug.py.txt", PythonProgram(plan, options));
}

TEST(ProgramGoldenTest, Conditionals) {
  const Plan plan = PlanMemory(*RoutedPlan())->plan;
  ProgramOptions options = OptionsFor(CudaTarget());
  ExpectGolden("routed.plan.txt", plan.DebugString());
  ExpectGolden("routed.fx.py.txt", FxProgram(plan, options));
  options.debug = {.level = debug::DebugLevel::kPrint, .kernels = {"add"}};
  ExpectGolden("routed.debug.cuda.cpp.txt", CppProgram(plan, options));
  ExpectGolden("routed.debug.py.txt", PythonProgram(plan, options));
}

TEST(ProgramGoldenTest, DebugCalls) {
  for (const int index : {1, 4}) {
    const Plan plan = FivePlans()[static_cast<size_t>(index)];
    ProgramOptions options = OptionsFor(CudaTarget());
    options.debug = {.level = debug::DebugLevel::kPrint, .kernels = {"softmax", "layer_norm"}};
    ExpectGolden(plan.name + ".debug.cuda.cpp.txt", CppProgram(plan, options));
    ExpectGolden(plan.name + ".debug.py.txt", PythonProgram(plan, options));
  }
}

TEST(ProgramGoldenTest, Lines) {
  for (const Plan& plan : FivePlans()) ExpectGolden(plan.name + ".plan.txt", plan.DebugString());
}

// Checks the graphs as lines of .wrapper.jsonl. The ids of the runs differ in one digit.
TEST(ProgramGoldenTest, Graphs) {
  std::string lines;
  char digit = '0';
  for (const Plan& plan : FivePlans()) {
    v1::Run run;
    run.set_run_id(std::string(64, ++digit));
    run.set_kernel_name(plan.name);
    lines += record::sidecar::FormatIrRecord(WrapperGraph(plan, "cuda:0"), run) + "\n";
  }
  ExpectGolden("five_plans.wrapper.jsonl", lines);
}

TEST(ProgramGoldenTest, TheGoldenPlansHaveAllKindsOfLines) {
  std::set<size_t> kinds;
  std::vector<Plan> plans = FivePlans();
  plans.push_back(*RowUpdatePlan());
  plans.push_back(*ElementUpdatePlan());
  plans.push_back(*JoinedPlan());
  plans.push_back(*RoutedPlan());
  for (const Plan& plan : plans) {
    for (const Line& line : plan.lines) kinds.insert(line.index());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<Line>);
}

}  // namespace
}  // namespace telemetry::worker::wrapper::program
