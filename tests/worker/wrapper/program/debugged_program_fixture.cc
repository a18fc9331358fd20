#include "tests/worker/wrapper/program/debugged_program_fixture.h"

#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "worker/debug/value_debugger.h"
#include "worker/device/open_device.h"
#include "worker/ir/host_array.h"
#include "worker/wrapper/plan_builder.h"
#include "worker/wrapper/program/plan_values.h"
#include "worker/wrapper/program/python_lines.h"
#include "worker/wrapper/run_plan.h"

namespace telemetry::worker::wrapper::program {

using debug::DebugLevel;
using debug::DebugOptions;
using device::DType;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

namespace {

Observed Collect(const std::string& folder, std::string lines) {
  Observed observed{.lines = std::move(lines)};
  if (!std::filesystem::is_directory(folder + "/values")) return observed;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/values")) {
    observed.files[entry.path().filename()] = ReadText(entry.path());
  }
  return observed;
}

}  // namespace

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

void ExpectSame(const Observed& actual, const Observed& expected) {
  EXPECT_EQ(actual.lines, expected.lines);
  EXPECT_EQ(actual.files.size(), expected.files.size());
  for (const auto& [name, bytes] : expected.files) {
    const auto found = actual.files.find(name);
    ASSERT_NE(found, actual.files.end()) << name;
    EXPECT_TRUE(found->second == bytes) << name << " differs";
  }
}

void DebuggedProgramTest::SetUp() {
  const char* id = std::getenv("TELEMETRY_TEST_DEVICE");
  absl::StatusOr<std::shared_ptr<device::Device>> device = device::OpenDevice(id == nullptr ? "opencl:0" : id);
  ASSERT_TRUE(device.ok()) << device.status();
  device_ = *std::move(device);
  if (is_cuda() &&
      Shell(folder_, "echo '#include <nvrtc.h>' | g++ -E -I/usr/local/cuda/include -x c++ -").exit_status) {
    GTEST_SKIP() << "no CUDA toolkit";
  }
}

bool DebuggedProgramTest::HasCupy() {
  return Shell(folder_, Python() + " -c 'import numpy" + (is_cuda() ? ", cupy'" : "'")).exit_status == 0;
}

ProgramOptions DebuggedProgramTest::OptionsFor(const DebugOptions& debug) const {
  return {.target = codegen::Target::For(device_->properties()),
          .seed = seed_,
          .name = "program",
          .references = device_,
          .debug = debug};
}

std::string DebuggedProgramTest::NewFolder() {
  std::string folder = folder_.path() + "/" + std::to_string(next_folder_++);
  std::filesystem::create_directory(folder);
  return folder;
}

Observed DebuggedProgramTest::OfRunTime(absl::Span<const Plan> plans, DebugOptions options, const std::string& folder) {
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  options.folder = "values";
  std::string lines;
  const auto debugger =
      debug::ValueDebugger::Create(options, [&](std::string_view text) { lines += std::string(text) + "\n"; });
  for (const Plan& plan : plans) {
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
  }
  std::filesystem::current_path(before);
  return Collect(folder, lines);
}

Observed DebuggedProgramTest::OfCpp(const Plan& plan, DebugOptions options, const std::string& folder,
                                    const std::string& flags) {
  options.folder = "values";
  return RunProgram(folder, WriteCpp(plan, OptionsFor(options), folder) + " " + flags);
}

Observed DebuggedProgramTest::OfPython(const Plan& plan, DebugOptions options, const std::string& folder) {
  options.folder = "values";
  return RunProgram(folder, WritePython(plan, OptionsFor(options), folder) + " --no-time");
}

std::string DebuggedProgramTest::WriteCpp(const Plan& plan, const ProgramOptions& options, const std::string& folder) {
  const absl::StatusOr<std::string> text = CppProgram(plan, options);
  EXPECT_TRUE(text.ok()) << text.status();
  WriteText(folder + "/program.cpp", *text);
  Compile(plan, options, folder);
  return "./program";
}

std::string DebuggedProgramTest::WriteCpp(absl::Span<const PlanShape> shapes, const ProgramOptions& options,
                                          const std::string& folder) {
  const absl::StatusOr<std::string> text = CppProgram(shapes, options);
  EXPECT_TRUE(text.ok()) << text.status();
  WriteText(folder + "/program.cpp", *text);
  Compile(PlanToCompile(shapes, options), options, folder);
  return "./program";
}

void DebuggedProgramTest::Compile(const Plan& plan, const ProgramOptions& options, const std::string& folder) {
  // Without optimisation, which takes most of the time; floating point is the same.
  const ShellOutcome compiled =
      ShellIn(folder, absl::StrReplaceAll(CompileCommand(plan, options),
                                          {{"-O2", "-O0 -Wall -Wextra -Wshadow=compatible-local -Werror"}}));
  EXPECT_EQ(compiled.exit_status, 0) << compiled.output;
}

std::string DebuggedProgramTest::WritePython(const Plan& plan, const ProgramOptions& options,
                                             const std::string& folder) {
  const absl::StatusOr<ProgramModel> model = MakeProgramModel(plan, options);
  EXPECT_TRUE(model.ok()) << model.status();
  WriteText(folder + "/program.py", WritePythonProgram(*model));
  const std::string path = is_cuda() ? "" : "PYTHONPATH=" TELEMETRY_PROGRAM_TESTS "/cupy_on_opencl ";
  return path + "PYTHONDONTWRITEBYTECODE=1 " + Python() + " -W error program.py";
}

std::string DebuggedProgramTest::WritePython(absl::Span<const PlanShape> shapes, const ProgramOptions& options,
                                             const std::string& folder) {
  std::string command = WritePython(shapes[0].plan, options, folder);
  const absl::StatusOr<std::vector<ProgramModel>> models = MakeShapeModels(shapes, options, CheckExternKind);
  EXPECT_TRUE(models.ok()) << models.status();
  WriteText(folder + "/program.py", WritePythonProgram(shapes, *models));
  return command;
}

Observed DebuggedProgramTest::RunProgram(const std::string& folder, const std::string& command) {
  const ShellOutcome run = ShellIn(folder, command + " 2>stderr");
  EXPECT_EQ(run.exit_status, 0) << run.output << ReadText(folder + "/stderr");
  EXPECT_THAT(run.output, HasSubstr("the results are right\n"));
  return Collect(folder, ReadText(folder + "/stderr"));
}

Observed DebuggedProgramTest::Expect(const Plan& plan, const DebugOptions& options, bool with_cpp) {
  SCOPED_TRACE(plan.name + ", level " + std::to_string(static_cast<int>(options.level)));
  Observed expected = OfRunTime({plan}, options, NewFolder());
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

void DebuggedProgramTest::ExpectAllLevels(const Plan& plan, bool with_names_in_cpp) {
  const Observed saved = Expect(plan, {.level = DebugLevel::kSave});
  EXPECT_THAT(saved.files, Not(IsEmpty()));
  const Observed printed = Expect(plan, {.level = DebugLevel::kPrint});
  EXPECT_THAT(printed.lines, HasSubstr("[program_inputs - " + plan.name));
  EXPECT_THAT(printed.lines, HasSubstr("(output) "));
  const Observed names = Expect(plan, {.level = DebugLevel::kNames}, with_names_in_cpp);
  EXPECT_THAT(names.lines, HasSubstr("[after_launch - "));
}

}  // namespace telemetry::worker::wrapper::program
