// Tests FX programs, in one process of the Python that TELEMETRY_TORCH_PYTHON names, or of the environment of the
// tests. Tests that run programs need PyTorch and PyOpenCL there; without them they are skipped.

#include <cstdlib>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/environment.h"
#include "tests/worker/wrapper/program/program_fixture.h"
#include "tests/worker/wrapper/random_plan.h"
#include "tests/worker/wrapper/sample_plans.h"
#include "worker/device/open_device.h"
#include "worker/kernels/library.h"
#include "worker/wrapper/file/plan_file.h"
#include "worker/wrapper/memory_plan.h"
#include "worker/wrapper/program/plan_values.h"
#include "worker/wrapper/program/program.h"
#include "worker/wrapper/run_plan.h"

namespace telemetry::worker::wrapper::program {
namespace {

using device::DType;
using ::testing::HasSubstr;

// Runs the programs 0.py, 1.py, ... of its folder: as written, and again after a pass that removes unused nodes.
constexpr char kRunAll[] = R"(import pathlib, runpy, sys
import torch.fx
numbers = sorted(int(path.stem) for path in pathlib.Path('.').glob('[0-9]*.py'))
for number in numbers:
    namespace = runpy.run_path(f'{number}.py')
    assert namespace['main']() == 0, number
    make = namespace['make_graph_module']
    def without_dead_code():
        module = make()
        for part in module.modules():
            if isinstance(part, torch.fx.GraphModule):
                part.graph.eliminate_dead_code()
                part.recompile()
        return module
    namespace['main'].__globals__.update(make_graph_module=without_dead_code, random=namespace['Random'](namespace['SEED']))
    assert namespace['main']() == 0, f'{number} without dead code'
print('ran', len(numbers))
)";

class FxProgramTest : public ::testing::Test {
 protected:
  void Add(const Plan& plan, uint64_t seed = 1, const std::shared_ptr<device::Device>& references = nullptr) {
    const absl::StatusOr<std::string> text =
        FxProgram(plan, {.target = OpenClTarget(), .seed = seed, .references = references});
    ASSERT_TRUE(text.ok()) << text.status();
    WriteText(folder_.path() + "/" + std::to_string(programs_++) + ".py", *text);
  }

  ShellOutcome RunPython(const std::string& script) {
    const char* named = std::getenv("TELEMETRY_TORCH_PYTHON");
    WriteText(folder_.path() + "/script.py", script);
    return Shell(folder_,
                 "OCL_ICD_VENDORS=/etc/OpenCL/vendors " + (named == nullptr ? Python() : named) + " script.py");
  }

  // Skips the test without PyTorch.
  void ExpectAllRight() {
    if (RunPython("import pyopencl, torch.fx").exit_status != 0) GTEST_SKIP() << "no PyTorch or no PyOpenCL";
    const ShellOutcome run = RunPython(kRunAll);
    EXPECT_EQ(run.exit_status, 0) << run.output;
    EXPECT_THAT(run.output, HasSubstr("ran " + std::to_string(programs_) + "\n"));
  }

  const TestFolder folder_;
  int programs_ = 0;
};

TEST_F(FxProgramTest, TheFivePlansAreRight) {
  for (const Plan& plan : FivePlans()) Add(plan);
  ExpectAllRight();
}

TEST_F(FxProgramTest, WrittenRowsAreRight) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) Add(*RowUpdatePlan(dtype));
  Add(PlanMemory(*RowUpdatePlan())->plan);
  ExpectAllRight();
}

TEST_F(FxProgramTest, ScatteredElementsAreRight) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) Add(*ElementUpdatePlan(dtype));
  Add(PlanMemory(*ElementUpdatePlan())->plan);
  ExpectAllRight();
}

TEST_F(FxProgramTest, JoinedTensorsAreRight) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) Add(PlanMemory(*JoinedPlan(dtype))->plan);
  ExpectAllRight();
}

TEST_F(FxProgramTest, BothBranchesOfConditionalsAreRight) {
  for (const uint64_t seed : RoutedPlanSeeds()) {
    Add(*RoutedPlan(), seed);
    Add(PlanMemory(*RoutedPlan(DType::kF16))->plan, seed);
  }
  ExpectAllRight();
}

// A branch changes a buffer that views show, made before the conditional or in the branch; then another conditional in
// the branch changes it.
TEST_F(FxProgramTest, ViewsSeeWhatBranchesWrite) {
  PlanBuilder b("views");
  const BufferRef x = b.Input("x", DType::kF32, {64, 32});
  const BufferRef flag = b.Input("flag", DType::kBool, {1});
  const BufferRef rows = b.Input("rows", DType::kI32, {32});
  const BufferRef made = b.Call("exp", {x}, {.names = {"made"}})[0];
  const BufferRef lower = b.View(made, {32, 32}, {32, 1}, 1024, "lower");
  const BufferRef lower_x = b.View(x, {32, 32}, {32, 1}, 1024, "lower_x");
  const BufferRef out = b.Allocate("out", DType::kF32, {32, 32});
  b.If(flag);
  b.IndexPut(made, rows, lower_x);
  b.Call("softmax", {lower}, {.into = {out}});
  b.If(flag);
  b.IndexPut(made, rows, out, /*accumulate=*/true);
  b.EndIf();
  b.Call("add", {lower, b.View(made, {32, 32}, {1, 32}, 0, "turned")}, {.into = {out}});
  b.Else();
  b.Call("add", {lower, lower_x}, {.into = {out}});
  b.EndIf();
  b.Output(b.Call("add", {lower, out})[0]);
  b.Output(made);
  const Plan plan = *b.Finish();
  for (const uint64_t seed : {1, 2, 3, 4}) Add(plan, seed);
  ExpectAllRight();
}

// Kernels of T1 specifications, also in a branch and in place. The module gives the same bytes as a run of the plan.
TEST_F(FxProgramTest, KernelsOfSpecificationsGiveTheSameBytes) {
  const absl::StatusOr<std::shared_ptr<device::Device>> device = device::OpenDevice("opencl:0");
  ASSERT_TRUE(device.ok()) << device.status();
  const Plan plan = PlanMemory(*file::ReadPlan(TELEMETRY_PROGRAM_TESTS "/../source/steps.json"))->plan;
  std::vector<std::string> expected;
  for (const uint64_t seed : {1, 2, 3, 4}) {
    Add(plan, seed, *device);
    std::vector<runtime::Tensor> inputs;
    const std::vector<std::vector<double>> drawn = DrawInputs(plan, InputRanges(plan), seed);
    for (size_t i = 0; i < drawn.size(); ++i) {
      const PlanBuffer& input = plan.buffer(plan.inputs[i]);
      inputs.push_back(*runtime::ToDevice(
          *device, {.dtype = input.dtype, .sizes = input.sizes, .strides = input.strides, .data = drawn[i]}));
    }
    const auto outputs = (*PlanRunner::Create(plan, *device))->Run(inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    expected.push_back(Hex(*runtime::BytesOf((*outputs)[0])).substr(0, size_t{8} * 10500));
  }
  ExpectAllRight();
  if (IsSkipped()) return;
  for (size_t i = 0; i < expected.size(); ++i) {
    const ShellOutcome run = RunPython("import runpy\nprogram = runpy.run_path('" + std::to_string(i) +
                                       ".py')\nout, = program['make_graph_module']()(*program['make_inputs']())\n"
                                       "print(out.numpy().tobytes().hex())\n");
    EXPECT_TRUE(run.output == expected[i] + "\n") << "program " << i << ", " << run.output.substr(0, 500);
  }
}

TEST_F(FxProgramTest, KernelsOfSpecificationsNeedADeviceForTheExpectation) {
  const Plan plan = *file::ReadPlan(TELEMETRY_PROGRAM_TESTS "/../source/steps.json");
  const absl::Status without = FxProgram(plan, {.target = OpenClTarget()}).status();
  EXPECT_EQ(without.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(without.message()), HasSubstr("only a device that compiles OpenCL can run; pass one"));
  const absl::Status other = FxProgram(plan, {.target = CudaTarget()}).status();
  EXPECT_EQ(other.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(other.message()),
              HasSubstr("kernel 'hotspot' is written in OpenCL: write a program for OpenCL"));
}

// The module of several shapes runs each of them, and lists them for inputs of other sizes.
TEST_F(FxProgramTest, OneModuleHasSeveralShapes) {
  const std::vector<std::vector<PlanShape>> programs = {DecidedShapes(), AttentionShapes()};
  for (size_t i = 0; i < programs.size(); ++i) {
    const absl::StatusOr<std::string> text = FxProgram(programs[i], {.target = OpenClTarget()});
    ASSERT_TRUE(text.ok()) << text.status();
    WriteText(folder_.path() + "/shapes" + std::to_string(i) + ".py", *text);
  }
  const absl::Status same =
      FxProgram({{.sizes = {{"n", 1}}, .plan = FivePlans()[0]}, {.sizes = {{"n", 2}}, .plan = FivePlans()[0]}},
                {.target = OpenClTarget()})
          .status();
  EXPECT_THAT(std::string(same.message()), HasSubstr("the inputs of the shapes (\"n=1\",) and (\"n=2\",) have equal"));
  if (RunPython("import pyopencl, torch.fx").exit_status != 0) GTEST_SKIP() << "no PyTorch or no PyOpenCL";
  const ShellOutcome run = RunPython(R"(import runpy, sys, torch
for number in (0, 1):
    sys.argv = [f'shapes{number}.py']
    program = runpy.run_path(f'shapes{number}.py')
    assert program['main']() == 0
    sys.argv += ['--size', ('rows=65', 'keys=65')[number]]
    assert program['main']() == 0
module = runpy.run_path('shapes0.py')['make_module']()
print([tuple(module(torch.zeros(rows, 32))[0].shape) for rows in (128, 16, 65)])
print(sum(isinstance(part, torch.fx.GraphModule) for part in module.shapes))
try:
    module(torch.zeros(17, 32))
except ValueError as error:
    print(error)
)");
  EXPECT_EQ(run.exit_status, 0) << run.output;
  EXPECT_EQ(run.output,
            "at rows=16:\nat rows=65:\nat rows=128:\nthe results are right\nat rows=65:\nthe results are right\n"
            "at keys=16:\nat keys=65:\nat keys=128:\nthe results are right\nat keys=65:\nthe results are right\n"
            "[(128, 32), (16, 32), (65, 32)]\n3\n"
            "no code for inputs of the sizes ((17, 32),); the shapes are:\n  rows=16: ((16, 32),)\n"
            "  rows=65: ((65, 32),)\n  rows=128: ((128, 32),)\n");
}

// The graph has torch.cond with branches that do not write their operands.
TEST_F(FxProgramTest, ConditionalsAreThoseOfTorch) {
  Add(*RoutedPlan());
  if (RunPython("import pyopencl, torch.fx").exit_status != 0) GTEST_SKIP() << "no PyTorch or no PyOpenCL";
  const ShellOutcome graph = RunPython(R"(import runpy
program = runpy.run_path('0.py')
module = program['make_graph_module']()
print([(node.name, [str(argument) for argument in node.args[1:3]]) for node in module.graph.nodes
       if node.target is program['torch'].ops.higher_order.cond])
print(sorted(name for name, _ in module.named_modules()))
inputs = program['make_inputs']()
hidden, routed = inputs[0].exp(), program['torch'].zeros(16, 32)
operands = {'hidden': hidden, 'is_doubled': inputs[3], 'weight': inputs[1], 'routed_rows': routed}
branch = module.then_0
names = [node.target for node in branch.graph.nodes if node.op == 'placeholder']
values = branch(*(operands[name] for name in names))
print(len(values), bool(routed.any()), bool(values[0].any()))
)");
  EXPECT_EQ(graph.output,
            "[('cond', ['then_0', 'else_0'])]\n"
            "['', 'else_0', 'then_0', 'then_0.else_1', 'then_0.then_1']\n1 False True\n");
}

// Each kernel of the library as a kernel of the plan, as an extern kernel that writes to memory of the plan, and as one
// that allocates its outputs.
TEST_F(FxProgramTest, EveryKernelIsRightAsCodeAndAsAnOperation) {
  for (const kernels::LibraryKernel* kernel : kernels::AllKernels()) {
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
      kernels::Sizes sizes;
      for (const auto& [name, size] : kernel->default_sizes) sizes[name] = name == "d" ? 16 : 32;
      const kernels::Problem problem = kernels::MakeProblem(*kernel, dtype, sizes);
      for (int way = 0; way < 3; ++way) {
        PlanBuilder b(kernel->name);
        std::vector<BufferRef> arguments;
        for (const kernels::TensorSpec& tensor : problem.tensors) {
          arguments.push_back(b.Input(tensor.name + "_in", tensor.dtype, tensor.sizes));
        }
        const CallOutputs outputs = way == 0   ? b.Call(*kernel, arguments)
                                    : way == 1 ? b.CallExtern(*kernel, arguments)
                                               : b.CallExternAllocating(*kernel, arguments);
        for (size_t i = 0; outputs[i].id >= 0; ++i) b.Output(outputs[i]);
        const absl::StatusOr<Plan> plan = b.Finish();
        ASSERT_TRUE(plan.ok()) << plan.status();
        Add(*plan);
      }
    }
  }
  EXPECT_EQ(programs_, 9 * 13);
  ExpectAllRight();
}

// Plans of three shapes. TELEMETRY_RANDOM_PLANS=300 checks more of them.
TEST_F(FxProgramTest, RandomPlansAreRightWithAndWithoutMemoryPlanning) {
  int64_t missing = NumberFromEnvironment("TELEMETRY_RANDOM_PLANS", 20);
  for (uint64_t seed = 0; missing > 0; ++seed) {
    SCOPED_TRACE(seed);
    const int64_t unit = 1 + static_cast<int64_t>(seed % 3);
    const absl::StatusOr<Plan> plan = RandomPlan(seed, {.unit = unit, .for_programs = seed % 2 == 0});
    ASSERT_TRUE(plan.ok()) << plan.status();
    const absl::Status status = FxProgram(*plan, {.target = OpenClTarget()}).status();
    if (status.ok()) {
      Add(*plan, seed);
      Add(PlanMemory(*plan)->plan, seed);
      --missing;
    } else {
      EXPECT_THAT(std::string(status.message()), HasSubstr("not a multiple of 4096"));
    }
  }
  ExpectAllRight();
}

TEST_F(FxProgramTest, RandomPlansOfThreeShapesAreRightInOneProgram) {
  int64_t missing = NumberFromEnvironment("TELEMETRY_RANDOM_PLANS", 20) / 2;
  for (uint64_t seed = 0; missing > 0; ++seed) {
    std::vector<PlanShape> shapes;
    for (const int64_t unit : {1, 2, 3}) {
      const Plan plan = *RandomPlan(seed, {.unit = unit, .for_programs = seed % 2 == 0});
      shapes.push_back({.sizes = {{"unit", unit}}, .plan = seed % 4 < 2 ? plan : PlanMemory(plan)->plan});
    }
    const absl::StatusOr<std::string> text = FxProgram(shapes, {.target = OpenClTarget(), .seed = seed});
    if (text.ok()) {
      WriteText(folder_.path() + "/shapes" + std::to_string(--missing) + ".py", *text);
    } else {
      EXPECT_THAT(std::string(text.status().message()), HasSubstr("not a multiple of 4096"));
    }
  }
  if (RunPython("import pyopencl, torch.fx").exit_status != 0) GTEST_SKIP() << "no PyTorch or no PyOpenCL";
  const ShellOutcome run = RunPython(R"(import pathlib, runpy, sys
sys.argv = ['program']
for path in pathlib.Path('.').glob('shapes*.py'):
    assert runpy.run_path(str(path))['main']() == 0, path
)");
  EXPECT_EQ(run.exit_status, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("at unit=1:\nat unit=2:\nat unit=3:\nthe results are right\n"));
}

// Views of memory that does not begin with its tensor, and memory that a larger buffer reuses.
TEST_F(FxProgramTest, ViewsBeginInTheirMemory) {
  PlanBuilder b("views");
  const BufferRef x = b.Input("x", DType::kF32, {64, 32});
  const BufferRef lower = b.View(x, {32, 32}, {32, 1}, 1024, "lower");
  const BufferRef small = b.Call("exp", {b.View(lower, {10, 10}, {10, 1}, 0)}, {.names = {"small"}})[0];
  const BufferRef sums = b.CallExternAllocating("sum", {small}, {.names = {"sums"}})[0];
  b.Output(b.Call("exp", {b.View(lower, {11, 11}, {11, 1}, 0)}, {.names = {"larger"}})[0]);
  b.Output(b.View(sums, {5}, {2}, 0, "every_second"));
  const Plan plan = PlanMemory(*b.Finish())->plan;
  const std::string text = *FxProgram(plan, {.target = OpenClTarget()});
  EXPECT_THAT(text, HasSubstr("small = allocate(call, \"small\", torch.float32, device, (10, 10), (10, 1), 121)"));
  EXPECT_THAT(text, HasSubstr("larger = call(torch.as_strided, small, (11, 11), (11, 1), 0, name=\"larger\")"));
  Add(plan);
  // A caller's tensor that is a view itself.
  const std::string call = "make_graph_module()(*make_inputs())";
  std::string moved = text;
  moved.replace(moved.find(call), call.size(),
                "make_graph_module()(torch.cat([torch.zeros(7), make_inputs()[0].flatten()])[7:].view(64, 32))");
  WriteText(folder_.path() + "/" + std::to_string(programs_++) + ".py", moved);
  ExpectAllRight();
}

// The names of the nodes are those of the buffers, and one changed number of the expectation is found.
TEST_F(FxProgramTest, TheGraphNamesTheBuffersAndWrongResultsAreFound) {
  Add(FivePlans()[1]);
  if (RunPython("import pyopencl, torch.fx").exit_status != 0) GTEST_SKIP() << "no PyTorch or no PyOpenCL";
  const ShellOutcome graph = RunPython(
      "import runpy\nfor node in runpy.run_path('0.py')['make_graph_module']().graph.nodes: print(node.op, "
      "node.name)\n");
  for (const char* line :
       {"placeholder q\n", "call_function scores\n", "call_function score_rows\n", "output output\n"}) {
    EXPECT_THAT(graph.output, HasSubstr(line));
  }
  std::string text = ReadText(folder_.path() + "/0.py");
  const size_t samples = text.find('[', text.find("\n    [", text.find("expected_out = (")));
  text.insert(samples + 1, "40, ");
  WriteText(folder_.path() + "/0.py", text);
  const ShellOutcome run = RunPython("import runpy\nrunpy.run_path('0.py', run_name='__main__')\n");
  EXPECT_EQ(run.exit_status, 1) << run.output;
  EXPECT_THAT(run.output, HasSubstr("wrong: out[0, 0, 0]: expected 40"));
}

TEST_F(FxProgramTest, ProgramsAreGoodPython) {
  std::vector<Plan> plans = FivePlans();
  plans.push_back(*RoutedPlan());
  for (const codegen::Target& target : {CudaTarget(), OpenClTarget()}) {
    for (const Plan& plan : plans) {
      const absl::StatusOr<std::string> text = FxProgram(plan, {.target = target});
      ASSERT_TRUE(text.ok()) << text.status();
      WriteText(folder_.path() + "/program.py", *text);
      const ShellOutcome compiled = Shell(folder_, Python() + " -W error -m py_compile program.py");
      EXPECT_EQ(compiled.exit_status, 0) << plan.name << "\n" << compiled.output;
    }
  }
}

TEST_F(FxProgramTest, AMissingPyTorchIsNotAWrongResult) {
  std::string text = FxProgram(*LayerNormPlan(), {.target = OpenClTarget()}).value();
  text.replace(text.find("import torch\n"), 12, "import no_such_torch");
  const ShellOutcome run = RunPython(text);
  EXPECT_EQ(run.exit_status, 2) << run.output;
  EXPECT_THAT(run.output, HasSubstr("No module named 'no_such_torch'"));
}

TEST_F(FxProgramTest, RefusesDebugCallsAndKernelsThatPyTorchLacks) {
  const Plan plan = *LayerNormPlan();
  const absl::Status debugged =
      FxProgram(plan, {.target = OpenClTarget(), .debug = {.level = debug::DebugLevel::kPrint}}).status();
  EXPECT_EQ(debugged.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(debugged.message()), HasSubstr("torch.fx.Interpreter"));
  kernels::LibraryKernel own = **kernels::FindKernel("exp");
  own.name = "mine";
  PlanBuilder b("own");
  b.Output(b.CallExtern(own, {b.Input("x", DType::kF32, {4, 8})})[0]);
  const absl::Status unknown = FxProgram(*b.Finish(), {.target = OpenClTarget()}).status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("no operation for the extern kernel 'mine'"));
}

}  // namespace
}  // namespace telemetry::worker::wrapper::program
