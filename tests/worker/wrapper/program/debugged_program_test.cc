// Tests that the debug calls of a program print and save the same bytes as the debugger of a run of its plan.
//
// Uses opencl:0, where the Python programs run with a replacement for CuPy (cupy_on_opencl/), or the device
// TELEMETRY_TEST_DEVICE. Programs for CUDA need the toolkit, and CuPy for Python.

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/environment.h"
#include "tests/worker/wrapper/program/program_fixture.h"
#include "tests/worker/wrapper/random_plan.h"
#include "tests/worker/wrapper/sample_plans.h"
#include "worker/debug/value_debugger.h"
#include "worker/device/open_device.h"
#include "worker/ir/host_array.h"
#include "worker/wrapper/file/plan_file.h"
#include "worker/wrapper/file/symbolic_plan.h"
#include "worker/wrapper/launch_plan.h"
#include "worker/wrapper/memory_plan.h"
#include "worker/wrapper/plan_builder.h"
#include "worker/wrapper/program/plan_values.h"
#include "worker/wrapper/program/program.h"
#include "worker/wrapper/program/python_lines.h"
#include "worker/wrapper/run_plan.h"

namespace telemetry::worker::wrapper::program {
namespace {

using debug::DebugLevel;
using debug::DebugOptions;
using device::Dialect;
using device::DType;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// The lines and files of a debugger.
struct Observed {
  std::string lines;
  std::map<std::string, std::string> files;  // by name
};

class DebuggedProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* id = std::getenv("TELEMETRY_TEST_DEVICE");
    absl::StatusOr<std::shared_ptr<device::Device>> device = device::OpenDevice(id == nullptr ? "opencl:0" : id);
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
    if (is_cuda() &&
        Shell(folder_, "echo '#include <nvrtc.h>' | g++ -E -I/usr/local/cuda/include -x c++ -").exit_status) {
      GTEST_SKIP() << "no CUDA toolkit";
    }
  }

  bool is_cuda() const { return device_->properties().dialect == Dialect::kCuda; }

  ProgramOptions OptionsFor(const DebugOptions& debug) const {
    return {.target = codegen::Target::For(device_->properties()),
            .seed = seed_,
            .name = "program",
            .references = device_,
            .debug = debug};
  }

  // Returns a new folder for a run. Runs write to the folder "values" in it.
  std::string NewFolder() {
    std::string folder = folder_.path() + "/" + std::to_string(next_folder_++);
    std::filesystem::create_directory(folder);
    return folder;
  }

  static Observed Collect(const std::string& folder, std::string lines) {
    Observed observed{.lines = std::move(lines)};
    if (!std::filesystem::is_directory(folder + "/values")) return observed;
    for (const auto& entry : std::filesystem::directory_iterator(folder + "/values")) {
      observed.files[entry.path().filename()] = ReadText(entry.path());
    }
    return observed;
  }

  // Runs the plan with the inputs of the programs and a debugger. Repeats it in a new process's stead: with a new
  // debugger.
  Observed OfRunTime(const Plan& plan, DebugOptions options, const std::string& folder) {
    const std::string before = std::filesystem::current_path();
    std::filesystem::current_path(folder);
    options.folder = "values";
    std::string lines;
    const auto debugger =
        debug::ValueDebugger::Create(options, [&](std::string_view text) { lines += std::string(text) + "\n"; });
    const auto runner = PlanRunner::Create(plan, device_, debugger.get());
    EXPECT_TRUE(runner.ok()) << runner.status();
    std::vector<runtime::Tensor> inputs;
    const std::vector<std::vector<double>> drawn = DrawInputs(plan, InputRanges(plan), seed_);
    for (size_t i = 0; i < plan.inputs.size(); ++i) {
      const PlanBuffer& input = plan.buffer(plan.inputs[i]);
      inputs.push_back(*runtime::ToDevice(
          device_,
          ir::HostArray{.dtype = input.dtype, .sizes = input.sizes, .strides = input.strides, .data = drawn[i]}));
    }
    const auto outputs = (*runner)->Run(inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_TRUE(device_->Synchronize().ok());
    std::filesystem::current_path(before);
    return Collect(folder, lines);
  }

  // Runs a program, which must find its results right, and returns its standard error.
  static std::string RunProgram(const std::string& folder, const std::string& command) {
    const ShellOutcome run = ShellIn(folder, command + " 2>stderr");
    EXPECT_EQ(run.exit_status, 0) << run.output << ReadText(folder + "/stderr");
    EXPECT_THAT(run.output, HasSubstr("the results are right\n"));
    return ReadText(folder + "/stderr");
  }

  Observed OfCpp(const Plan& plan, DebugOptions options, const std::string& folder,
                 const std::string& flags = "--no-time") {
    options.folder = "values";
    const absl::StatusOr<std::string> text = CppProgram(plan, OptionsFor(options));
    EXPECT_TRUE(text.ok()) << text.status();
    WriteText(folder + "/program.cpp", *text);
    // Without optimisation, which takes most of the time; floating point is the same.
    const std::string command =
        absl::StrReplaceAll(CompileCommand(plan, OptionsFor(options)), {{"-O2", "-O0 -Wall -Wextra -Werror"}});
    const ShellOutcome compiled = ShellIn(folder, command);
    EXPECT_EQ(compiled.exit_status, 0) << compiled.output;
    return Collect(folder, RunProgram(folder, "./program " + flags));
  }

  Observed OfPython(const Plan& plan, DebugOptions options, const std::string& folder) {
    options.folder = "values";
    const absl::StatusOr<ProgramModel> model = MakeProgramModel(plan, OptionsFor(options));
    EXPECT_TRUE(model.ok()) << model.status();
    WriteText(folder + "/program.py", WritePythonProgram(*model));
    const std::string path = is_cuda() ? "" : "PYTHONPATH=" TELEMETRY_PROGRAM_TESTS "/cupy_on_opencl ";
    return Collect(
        folder, RunProgram(folder, path + "PYTHONDONTWRITEBYTECODE=1 " + Python() + " -W error program.py --no-time"));
  }

  bool HasCupy() {
    return Shell(folder_, Python() + " -c 'import numpy" + (is_cuda() ? ", cupy'" : "'")).exit_status == 0;
  }

  static void ExpectSame(const Observed& actual, const Observed& expected) {
    EXPECT_EQ(actual.lines, expected.lines);
    EXPECT_EQ(actual.files.size(), expected.files.size());
    for (const auto& [name, bytes] : expected.files) {
      const auto found = actual.files.find(name);
      ASSERT_NE(found, actual.files.end()) << name;
      EXPECT_TRUE(found->second == bytes) << name << " differs";
    }
  }

  // Compares both programs with a run and returns what the run's debugger showed.
  Observed Expect(const Plan& plan, const DebugOptions& options, bool with_cpp = true) {
    SCOPED_TRACE(plan.name + ", level " + std::to_string(static_cast<int>(options.level)));
    Observed expected = OfRunTime(plan, options, NewFolder());
    if (with_cpp) {
      SCOPED_TRACE("C++");
      ExpectSame(OfCpp(plan, options, NewFolder()), expected);
    }
    if (HasCupy()) {
      SCOPED_TRACE("Python");
      ExpectSame(OfPython(plan, options, NewFolder()), expected);
    }
    return expected;
  }

  // Compiling a program takes seconds: of those in C++ only some are checked at level kNames.
  void ExpectAllLevels(const Plan& plan, bool with_names_in_cpp = false) {
    const Observed saved = Expect(plan, {.level = DebugLevel::kSave});
    EXPECT_THAT(saved.files, Not(IsEmpty()));
    const Observed printed = Expect(plan, {.level = DebugLevel::kPrint});
    EXPECT_THAT(printed.lines, HasSubstr("[program_inputs - " + plan.name));
    EXPECT_THAT(printed.lines, HasSubstr("(output) "));
    const Observed names = Expect(plan, {.level = DebugLevel::kNames}, with_names_in_cpp);
    EXPECT_THAT(names.lines, HasSubstr("[after_launch - "));
  }

  std::shared_ptr<device::Device> device_;
  const TestFolder folder_;
  uint64_t seed_ = 3;
  int next_folder_ = 0;
};

TEST_F(DebuggedProgramTest, LayerNorm) { ExpectAllLevels(FivePlans()[0]); }
TEST_F(DebuggedProgramTest, Attention) { ExpectAllLevels(FivePlans()[1]); }
TEST_F(DebuggedProgramTest, GatedMlp) { ExpectAllLevels(FivePlans()[2]); }
TEST_F(DebuggedProgramTest, StridedSoftmax) { ExpectAllLevels(FivePlans()[3]); }
TEST_F(DebuggedProgramTest, NormedLoss) { ExpectAllLevels(FivePlans()[4], /*with_names_in_cpp=*/true); }

TEST_F(DebuggedProgramTest, RowUpdate) { ExpectAllLevels(*RowUpdatePlan(DType::kBF16)); }

TEST_F(DebuggedProgramTest, ElementUpdate) { ExpectAllLevels(*ElementUpdatePlan()); }

TEST_F(DebuggedProgramTest, Joined) { ExpectAllLevels(*JoinedPlan()); }

// Kernels of T1 specifications, one of which changes its argument in place. The files have the bytes of all tensors.
TEST_F(DebuggedProgramTest, KernelsOfSpecifications) {
  if (is_cuda()) GTEST_SKIP() << "the kernels are written in OpenCL";
  const absl::StatusOr<Plan> plan = file::ReadPlan(TELEMETRY_PROGRAM_TESTS "/../source/steps.json");
  ASSERT_TRUE(plan.ok()) << plan.status();
  ExpectAllLevels(PlanMemory(*plan)->plan);
  const Observed printed = Expect(*plan, {.level = DebugLevel::kPrint, .kernels = {"relax"}}, /*with_cpp=*/false);
  EXPECT_THAT(printed.lines, HasSubstr("[before_launch - relax - rate] 0.1 (float)\n"));
  EXPECT_THAT(printed.lines, HasSubstr("[before_launch - relax - first] 100 (integer)\n"));
  EXPECT_THAT(printed.lines, HasSubstr("[before_launch - relax - values] buffer=first elements=10500 "));
  EXPECT_THAT(printed.lines, Not(HasSubstr("hotspot")));
}

// Each way through the conditionals.
TEST_F(DebuggedProgramTest, Routed) {
  std::set<std::string> shown;
  for (const uint64_t seed : RoutedPlanSeeds()) {
    seed_ = seed;
    Expect(*RoutedPlan(), {.level = DebugLevel::kSave});
    Expect(*RoutedPlan(), {.level = DebugLevel::kPrint}, /*with_cpp=*/shown.empty());
    shown.insert(Expect(*RoutedPlan(), {.level = DebugLevel::kNames}, /*with_cpp=*/shown.empty()).lines);
  }
  EXPECT_EQ(shown.size(), 3u);
}

// A plan whose sizes decide its conditionals, on each side of them.
TEST_F(DebuggedProgramTest, DecidedBySizes) {
  const auto plan = *file::SymbolicPlan::Read(TELEMETRY_PROGRAM_TESTS "/../file/decided.json");
  for (const int64_t rows : {64, 65}) {
    const MemoryPlan planned = *PlanMemory(*plan->At({{"rows", rows}}), MemoryScope::kAllSizes);
    const std::string shown = Expect(planned.plan, {.level = DebugLevel::kNames}).lines;
    EXPECT_EQ(shown.find("softmax") != std::string::npos, rows == 65);
  }
}

// One program has the code of three shapes, and each shape gives the results that the reference gives at this shape.
TEST_F(DebuggedProgramTest, ProgramsOfSeveralShapes) {
  const auto decided = *file::SymbolicPlan::Read(TELEMETRY_PROGRAM_TESTS "/../file/decided.json");
  const auto attention = *file::SymbolicPlan::Find("attention");
  const auto shapes_of = [](const file::SymbolicPlan& plan, const std::string& symbol) {
    std::vector<PlanShape> shapes;
    for (const int64_t size : {16, 65, 128}) {
      shapes.push_back({.sizes = {{symbol, size}}, .plan = PlanMemory(*plan.At({{symbol, size}}))->plan});
    }
    return shapes;
  };
  for (const std::vector<PlanShape>& shapes : {shapes_of(*decided, "rows"), shapes_of(*attention, "keys")}) {
    const std::string symbol = shapes[0].sizes.begin()->first;
    const std::string folder = NewFolder();
    const ProgramOptions options = OptionsFor({});
    const absl::StatusOr<std::string> cpp = CppProgram(shapes, options);
    ASSERT_TRUE(cpp.ok()) << cpp.status();
    WriteText(folder + "/program.cpp", *cpp);
    const ShellOutcome compiled =
        ShellIn(folder, absl::StrReplaceAll(CompileCommand(PlanToCompile(shapes, options), options),
                                            {{"-O2", "-O0 -Wall -Wextra -Wshadow=compatible-local -Werror"}}));
    EXPECT_EQ(compiled.exit_status, 0) << compiled.output;
    std::vector<std::string> commands = {"./program"};
    if (HasCupy()) {
      std::vector<ProgramModel> models = *MakeShapeModels(shapes, options, CheckExternKind);
      WriteText(folder + "/program.py", WritePythonProgram(shapes, models));
      commands.push_back((is_cuda() ? "" : "PYTHONPATH=" TELEMETRY_PROGRAM_TESTS "/cupy_on_opencl ") +
                         ("PYTHONDONTWRITEBYTECODE=1 " + Python()) + " -W error program.py");
    }
    for (const std::string& command : commands) {
      SCOPED_TRACE(command);
      const ShellOutcome all = ShellIn(folder, command + " --no-time");
      EXPECT_EQ(all.exit_status, 0) << all.output;
      EXPECT_THAT(all.output, ::testing::EndsWith(absl::StrCat("at ", symbol, "=16:\nat ", symbol, "=65:\nat ", symbol,
                                                               "=128:\nthe results are right\n")));
      // The replacement for CuPy has no clock.
      const bool is_timed = is_cuda() || command == "./program";
      const ShellOutcome one =
          ShellIn(folder, absl::StrCat(command, " --size ", symbol, "=65", is_timed ? "" : " --no-time"));
      EXPECT_EQ(one.exit_status, 0) << one.output;
      EXPECT_THAT(one.output, HasSubstr(absl::StrCat("at ", symbol, "=65:\n")));
      EXPECT_THAT(one.output, HasSubstr(is_timed ? ": median " : "the results are right\n"));
      EXPECT_THAT(one.output, Not(HasSubstr("=16:")));
      const ShellOutcome none = ShellIn(folder, absl::StrCat(command, " --size ", symbol, "=17"));
      EXPECT_EQ(none.exit_status, 2);
      EXPECT_EQ(none.output, absl::StrCat("no code for these sizes; the shapes of this program are:\n  ", symbol,
                                          "=16\n  ", symbol, "=65\n  ", symbol, "=128\n"));
      EXPECT_EQ(ShellIn(folder, command + " --no-times").exit_status, 2);
    }
    // A wrong value at the last shape is found.
    std::string wrong = *cpp;
    const size_t last = wrong.rfind("const Expected ");
    wrong.replace(wrong.find("\n    {", last), 7, "\n    {1e9, ");
    WriteText(folder + "/program.cpp", wrong);
    ShellIn(folder, absl::StrReplaceAll(CompileCommand(PlanToCompile(shapes, options), options), {{"-O2", "-O0"}}));
    EXPECT_EQ(ShellIn(folder, "./program --no-time").exit_status, 1);
    EXPECT_EQ(ShellIn(folder, "./program --no-time --size " + symbol + "=65").exit_status, 0);
  }
}

TEST_F(DebuggedProgramTest, ProgramsOfSeveralShapesHaveNoDebugCalls) {
  const Plan plan = FivePlans()[0];
  const absl::Status status = CppProgram({{.sizes = {{"n", 1}}, .plan = plan}, {.sizes = {{"n", 2}}, .plan = plan}},
                                         OptionsFor({.level = DebugLevel::kNames}))
                                  .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("debug calls need a program of one shape"));
}

// TELEMETRY_RANDOM_PLANS=300 checks more of them. Programs in C++ take seconds to compile: only some are checked here
// (cpp_program_test checks their results).
TEST_F(DebuggedProgramTest, RandomPlans) {
  const auto count = static_cast<uint64_t>(NumberFromEnvironment("TELEMETRY_RANDOM_PLANS", 8));
  for (uint64_t seed = 0; seed < count; ++seed) {
    seed_ = seed;
    const int64_t unit = 1 + static_cast<int64_t>(seed % 3);
    const absl::StatusOr<Plan> plan = RandomPlan(seed, {.unit = unit, .for_programs = true});
    ASSERT_TRUE(plan.ok()) << plan.status();
    const DebugLevel level = seed % 2 == 0 ? DebugLevel::kPrint : DebugLevel::kSave;
    Expect(seed % 4 < 2 ? *plan : PlanMemory(*plan)->plan, {.level = level}, /*with_cpp=*/seed % 8 == 0);
  }
}

TEST_F(DebuggedProgramTest, ShowsTheKernelsOfTheFilter) {
  const Observed saved = Expect(FivePlans()[1], {.level = DebugLevel::kSave, .kernels = {"SOFTMAX"}});
  EXPECT_EQ(saved.files.size(), 4u);
  const Observed printed = Expect(FivePlans()[1], {.level = DebugLevel::kPrint, .kernels = {"softmax", "other"}});
  EXPECT_THAT(printed.lines, HasSubstr("[after_launch - softmax - out] "));
  EXPECT_THAT(printed.lines, Not(HasSubstr("bmm")));
}

// Checks a flag and a scalar.
TEST_F(DebuggedProgramTest, ShowsNumbers) {
  const kernels::LibraryKernel& kernel = **kernels::FindKernel("attention");
  kernels::Sizes sizes = kernel.default_sizes;
  for (auto& [dimension, size] : sizes) size = std::min<int64_t>(size, 32);
  const Plan plan = *PlanOfLaunch(kernel, kernels::MakeProblem(kernel, DType::kF16, sizes, {{"causal", 1}}));
  EXPECT_THAT(Expect(plan, {.level = DebugLevel::kPrint}).lines, HasSubstr("causal] true (bool)"));
}

// Returns a plan that reads memory that no kernel wrote: the sum of NaNs, its view at an offset, and a tensor with few
// elements.
Plan UnwrittenPlan() {
  PlanBuilder b("unwritten memory");
  const BufferRef x = b.Input("x", DType::kF32, {64, 32});
  const BufferRef unwritten = b.Allocate("unwritten", DType::kF32, {64, 32});
  const BufferRef sum = b.Call("add", {x, unwritten}, {.names = {"sum/of both"}})[0];
  const BufferRef lower = b.View(sum, {32, 32}, {1, 32}, 1024, "lower");
  b.Output(b.Call("softmax", {lower}, {.names = {"out"}})[0]);
  const BufferRef small = b.Input("small", DType::kBF16, {3, 4}, {5, 1});
  b.Output(b.Call("exp", {small}, {.names = {"few"}})[0]);
  return *b.Finish();
}

TEST_F(DebuggedProgramTest, FindsTheFirstNaN) {
  const Observed all = Expect(UnwrittenPlan(), {.level = DebugLevel::kPrint});
  EXPECT_THAT(all.lines, HasSubstr("[first_nan] the first tensor with a NaN is 'unwritten' (2048 of 2048 elements), an "
                                   "input of the program\n"));
  EXPECT_THAT(all.lines, HasSubstr("mean=none"));
  EXPECT_THAT(all.lines, HasSubstr("values=["));
  const Observed later = Expect(UnwrittenPlan(), {.level = DebugLevel::kSave, .kernels = {"softmax"}});
  EXPECT_EQ(later.lines,
            "[first_nan] the first tensor with a NaN is 'lower' (1024 of 1024 elements), made by kernel 'add'\n");
}

TEST_F(DebuggedProgramTest, FilesAreNeverOverwritten) {
  const Plan plan = FivePlans()[1];
  const DebugOptions options = {.level = DebugLevel::kSave};
  const std::string of_run_time = NewFolder();
  OfRunTime(plan, options, of_run_time);
  const Observed expected = OfRunTime(plan, options, of_run_time);
  EXPECT_EQ(expected.files.size(), 32u);
  const std::string of_cpp = NewFolder();
  OfCpp(plan, options, of_cpp);
  ExpectSame(Collect(of_cpp, RunProgram(of_cpp, "./program --no-time")), expected);
  if (!HasCupy()) return;
  const std::string of_python = NewFolder();
  OfPython(plan, options, of_python);
  ExpectSame(OfPython(plan, options, of_python), expected);
}

TEST_F(DebuggedProgramTest, AnErrorOfTheFilesIsPrintedOnceAndTheRunGoesOn) {
  const Plan plan = FivePlans()[0];
  const DebugOptions options = {.level = DebugLevel::kSave};
  const auto blocked = [this] {
    std::string folder = NewFolder();
    WriteText(folder + "/values", "a file in the place of the folder");
    return folder;
  };
  const Observed expected = OfRunTime(plan, options, blocked());
  EXPECT_EQ(expected.lines,
            "[error] cannot save values: cannot make the folder values: Not a directory. The run continues; further "
            "errors of this kind are not shown\n");
  ExpectSame(OfCpp(plan, options, blocked()), expected);
  if (HasCupy()) ExpectSame(OfPython(plan, options, blocked()), expected);
}

// Checks that timing neither repeats the debug calls nor contains them.
TEST_F(DebuggedProgramTest, TimedLaunchesAreNotShown) {
  const Plan plan = FivePlans()[0];
  const DebugOptions options = {.level = DebugLevel::kPrint};
  ExpectSame(OfCpp(plan, options, NewFolder(), ""), OfRunTime(plan, options, NewFolder()));
}

TEST(DebugCallsTest, Level0WritesTheSameBytes) {
  std::vector<Plan> plans = FivePlans();
  plans.push_back(*RoutedPlan());
  for (const Plan& plan : plans) {
    const DebugOptions off = {.level = DebugLevel::kOff, .kernels = {"softmax"}, .folder = "elsewhere"};
    EXPECT_EQ(*CppProgram(plan, {.target = OpenClTarget(), .debug = off}),
              *CppProgram(plan, {.target = OpenClTarget()}));
    EXPECT_EQ(*CppProgram(plan, {.target = CudaTarget(), .debug = off}), *CppProgram(plan, {.target = CudaTarget()}));
    EXPECT_EQ(*PythonProgram(plan, {.target = CudaTarget(), .debug = off}),
              *PythonProgram(plan, {.target = CudaTarget()}));
    EXPECT_THAT(OwnText(*CppProgram(plan, {.target = CudaTarget()})), Not(HasSubstr("Debug")));
  }
}

TEST(DebugCallsTest, CudaProgramsCompileWithoutWarnings) {
  const TestFolder folder;
  for (const DebugLevel level : {DebugLevel::kSave, DebugLevel::kNames}) {
    WriteText(folder.path() + "/program.cpp",
              CppProgram(FivePlans()[2], {.target = CudaTarget(), .debug = {.level = level}}).value());
    const ShellOutcome compiled = Shell(folder, "g++ -std=c++17 -fsyntax-only program.cpp -I" TELEMETRY_PROGRAM_TESTS
                                                "/cuda_headers -Wall -Wextra -Wshadow=compatible-local -Werror");
    EXPECT_EQ(compiled.exit_status, 0) << compiled.output;
  }
}

}  // namespace
}  // namespace telemetry::worker::wrapper::program
