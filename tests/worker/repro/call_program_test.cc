// Tests programs of calls: they are compiled and run on the first OpenCL device, PoCL.

#include "worker/repro/call_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/paths.h"
#include "tests/temp_folder.h"
#include "tests/worker/runtime/fake_device.h"
#include "worker/device/open_device.h"
#include "worker/kernels/kernel_spec.h"
#include "worker/kernels/library.h"
#include "worker/runtime/kernel.h"

namespace telemetry::worker::repro {
namespace {

using device::DType;
using runtime::Argument;
using runtime::Arguments;
using runtime::Kernel;
using runtime::KernelSpec;
using runtime::Tensor;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Computes out[m, n] = table[at[m], n] * scale + the sum of the row of x.
absl::Status PickAndSum(ir::Trace& trace) {
  const ir::TensorRef x = trace.Tensor("x");
  const ir::TensorRef table = trace.Tensor("table");
  const ir::TensorRef out = trace.Output("out", {trace.SizeOf(x, 0), trace.SizeOf(table, 1)}, DType::kF32);
  const ir::AxisRef m = trace.Tile(trace.SizeOf(x, 0));
  const ir::AxisRef n = trace.ReductionAxis(trace.SizeOf(table, 1));
  const ir::Value row = trace.Load(trace.Tensor("at"), {m});
  const ir::Value sum = trace.Sum(trace.Load(x, {m, n}), n);
  trace.Store(out, {m, n}, trace.Load(table, {row, n}) * trace.Scalar("scale") + sum);
  return absl::OkStatus();
}

// Stores the begin of each tile: the results depend on the config.
absl::Status TileBegins(ir::Trace& trace) {
  const ir::TensorRef x = trace.Tensor("x");
  const ir::AxisRef m = trace.Tile(trace.SizeOf(x, 0));
  trace.Store(trace.OutputLike("out", x), {m}, trace.Load(x, {m}) * 0 + trace.TileBegin(m).To(DType::kF32));
  return absl::OkStatus();
}

// Adds 1 to its argument.
absl::Status Increment(ir::Trace& trace) {
  const ir::TensorRef x = trace.Tensor("x");
  const ir::AxisRef m = trace.Tile(trace.SizeOf(x, 0));
  trace.Store(x, {m}, trace.Load(x, {m}) + 1);
  return absl::OkStatus();
}

struct Outcome {
  int exit_status = -1;
  std::string output;
};

class CallProgramTest : public testing::Test {
 protected:
  static codegen::Config Parsed(const std::string& text) { return *codegen::Config::Parse(text); }

  Tensor Dense(DType dtype, std::vector<int64_t> sizes, int64_t below) const {
    ir::HostArray array = ir::HostArray::Dense(dtype, std::move(sizes));
    for (size_t i = 0; i < array.data.size(); ++i)
      array.data[i] = static_cast<double>(i * 7 % static_cast<size_t>(below));
    return *runtime::ToDevice(device_, array);
  }

  std::shared_ptr<runtime::BoundKernel> Bind(KernelSpec spec, const Arguments& arguments) {
    kernel_ = Kernel::Create(std::move(spec)).value();
    const auto bound = kernel_->Bind(arguments);
    EXPECT_TRUE(bound.ok()) << bound.status();
    return bound.value_or(nullptr);
  }

  // Writes the program and its files; compiles and runs it.
  Outcome Run(const ReproProgram& program, const std::string& options = " --no-time") const {
    std::ofstream(program.path) << program.text;
    for (const DataFile& file : program.files) std::ofstream(file.path, std::ios::binary) << file.bytes;
    return Shell(program.command + options);
  }

  Outcome Shell(const std::string& command) const {
    const std::string log = folder_.File("log");
    const int result = std::system(("{ " + command + " ; } > " + log + " 2>&1").c_str());
    std::ifstream file(log);
    return {WEXITSTATUS(result), {std::istreambuf_iterator<char>(file), {}}};
  }

  const TempFolder folder_;
  const std::shared_ptr<device::Device> device_ = device::OpenDevice("opencl:0").value();
  std::unique_ptr<Kernel> kernel_;
};

TEST_F(CallProgramTest, RepeatsACallOfAnOwnKernel) {
  const Tensor table = *runtime::ToDevice(device_, ir::HostArray::Strided(DType::kF16, {50, 40}, {80, 2}));
  const Arguments arguments = {Dense(DType::kF32, {37, 40}, 9), table, Dense(DType::kI64, {37}, 50), 0.5};
  for (const bool static_shapes : {true, false}) {
    const auto bound = Bind({.name = "pick_and_sum",
                             .parameters = {{.name = "x"},
                                            {.name = "table"},
                                            {.name = "at"},
                                            {.name = "scale", .kind = runtime::ParameterKind::kScalar}},
                             .body = PickAndSum,
                             .settings = runtime::Settings{.static_shapes = static_shapes},
                             .source = "Value PickAndSum();\n"},
                            arguments);
    const auto program =
        MakeCallProgram(*bound, Parsed("Config(block_sizes=[8], num_warps=4)"), arguments,
                        {.path = folder_.File("pick.cpp"), .reason = "it is slow", .measured_ms = 1.5});
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_THAT(program->text,
                AllOf(HasSubstr("// reason: it is slow\n"), HasSubstr("block_sizes=[8]"),
                      HasSubstr("// argument table: f16 [50, 40], strides [80, 2]\n"),
                      HasSubstr("// argument at: i64 [37], strides [1]\n"),
                      HasSubstr("// argument scale: 0.5 (float)\n"), HasSubstr("//   Value PickAndSum();\n")));
    ASSERT_THAT(program->files, SizeIs(1)) << "the indices";
    EXPECT_THAT(program->files[0].bytes, SizeIs(37 * 8));
    const Outcome outcome = Run(*program, static_shapes ? "" : " --no-time");
    EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("out: right"));
    if (!static_shapes) continue;
    EXPECT_THAT(outcome.output, AllOf(HasSubstr("median"), HasSubstr("measured before: 1.5")));
  }
}

TEST_F(CallProgramTest, ShowsResultsThatDifferFromTheDefaultConfig) {
  const Arguments arguments = {Dense(DType::kF32, {1000}, 10)};
  const auto bound = Bind({.name = "tile_begins", .parameters = {{.name = "x"}}, .body = TileBegins}, arguments);
  const auto program = MakeCallProgram(*bound, Parsed("Config(block_sizes=[4])"), arguments,
                                       {.path = folder_.File("begins.cpp"), .with_values = true});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(program->files, SizeIs(1)) << "the floats";
  const Outcome outcome = Run(*program);
  EXPECT_EQ(outcome.exit_status, 1) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("out: 996 of 1000 elements are wrong, the first is number 4"));
}

TEST_F(CallProgramTest, RepeatsKernelsThatWriteTheirArguments) {
  const Arguments arguments = {Dense(DType::kU8, {300}, 200)};
  const auto bound = Bind({.name = "increment", .parameters = {{.name = "x"}}, .body = Increment}, arguments);
  const auto program = MakeCallProgram(*bound, {}, arguments, {.path = folder_.File("increment.cpp")});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(program->text, HasSubstr("// note: the kernel writes 'x'"));
  const Outcome outcome = Run(*program);
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
}

TEST_F(CallProgramTest, RepeatsACallOfALibraryKernel) {
  const kernels::LibraryKernel* softmax = kernels::FindKernel("softmax").value();
  const Arguments arguments = {Dense(DType::kF16, {16, 100}, 11)};
  const auto bound = Bind(kernels::MakeKernelSpec(*softmax), arguments);
  const auto program = MakeCallProgram(*bound, Parsed("Config(block_sizes=[2], num_warps=2)"), arguments,
                                       {.path = folder_.File("softmax.cpp")});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(program->files, IsEmpty()) << "floats are drawn";
  const Outcome outcome = Run(*program);
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
}

TEST_F(CallProgramTest, IsAPythonProgramToo) {
  const Arguments arguments = {Dense(DType::kF32, {1000}, 10)};
  const auto bound = Bind({.name = "tile_begins", .parameters = {{.name = "x"}}, .body = TileBegins}, arguments);
  const auto program = MakeCallProgram(*bound, Parsed("Config(block_sizes=[4])"), arguments,
                                       {.language = ProgramLanguage::kPython, .path = folder_.File("begins.py")});
  ASSERT_TRUE(program.ok()) << program.status();
  std::ofstream(program->path) << program->text;
  const Outcome compiled = Shell("python3 -W error -m py_compile " + program->path);
  EXPECT_EQ(compiled.exit_status, 0) << compiled.output;
  if (Shell("python3 -c 'import numpy, pyopencl'").exit_status != 0) GTEST_SKIP() << "no PyOpenCL";
  const Outcome outcome = Shell(program->command);
  EXPECT_EQ(outcome.exit_status, 1) << outcome.output;
}

TEST_F(CallProgramTest, ACudaKernelIsAProgramInCpp) {
  const auto cuda =
      std::make_shared<runtime::FakeDevice>(runtime::FakeDevice::Behaviour{.dialect = device::Dialect::kCuda});
  const Arguments arguments = {runtime::TensorOn(cuda, {1000})};
  const auto bound = Bind({.name = "tile_begins", .parameters = {{.name = "x"}}, .body = TileBegins}, arguments);
  const auto program = MakeCallProgram(*bound, {}, arguments, {.path = folder_.File("begins.cpp")});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(program->command, HasSubstr("-lnvrtc -lcuda"));
  std::ofstream(program->path) << program->text;
  const Outcome checked = Shell("g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I " + TestdataDir() +
                                "/../worker/wrapper/program/cuda_headers " + program->path);
  EXPECT_EQ(checked.exit_status, 0) << checked.output;
}

// The program of a call that failed on a device whose compiler is broken works on another device.
TEST_F(CallProgramTest, PrintReproWritesTheProgramOfACallThatFails) {
  const auto broken = std::make_shared<runtime::FakeDevice>(runtime::FakeDevice::Behaviour{
      .compile = [](const std::string&) { return absl::InternalError("the compiler crashed"); }});
  KernelSpec spec = {.name = "tile_begins", .parameters = {{.name = "x"}}, .body = TileBegins};
  spec.settings = runtime::Settings{.use_default_config = true, .print_repro = true};
  spec.repro_writer = NewReproWriter({.folder = folder_.File("")});
  const Arguments arguments = {runtime::TensorOn(broken, {1000})};
  const auto bound = Bind(std::move(spec), arguments);
  EXPECT_FALSE(bound->Run(arguments).ok());
  EXPECT_FALSE(bound->Run(arguments).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_.File("tile_begins_call_2.cpp"))) << "one program for one config";
  const std::string path = folder_.File("tile_begins_call_1.cpp");
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(text, HasSubstr("// reason: INTERNAL: the compiler crashed\n"));
  const std::string program = folder_.File("program");
  const Outcome outcome = Shell("g++ -std=c++17 -Wall -Wextra -Werror " + path + " -o " + program +
                                " -l:libOpenCL.so.1 && " + program + " --no-time");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
}

TEST_F(CallProgramTest, AFolderThatDoesNotExistIsAnError) {
  KernelSpec spec = {.name = "tile_begins", .parameters = {{.name = "x"}}, .body = TileBegins};
  spec.settings = runtime::Settings{.use_default_config = true};
  spec.repro_writer = NewReproWriter({.folder = folder_.File("missing")});
  const Arguments arguments = {Dense(DType::kF32, {1000}, 10)};
  const absl::Status status = Bind(std::move(spec), arguments)->WriteRepro(arguments, "slow");
  EXPECT_THAT(std::string(status.message()), HasSubstr("check that its folder exists"));
}

}  // namespace
}  // namespace telemetry::worker::repro
