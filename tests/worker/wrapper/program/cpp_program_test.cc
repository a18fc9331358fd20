#include <cstdlib>
#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/environment.h"
#include "tests/worker/wrapper/program/program_fixture.h"
#include "tests/worker/wrapper/random_plan.h"
#include "tests/worker/wrapper/sample_plans.h"
#include "worker/device/open_device.h"
#include "worker/kernels/kernel_spec.h"
#include "worker/runtime/kernel.h"
#include "worker/wrapper/launch_plan.h"
#include "worker/wrapper/memory_plan.h"
#include "worker/wrapper/program/program.h"
#include "worker/wrapper/program/program_text.h"

namespace telemetry::worker::wrapper::program {
namespace {

using device::DType;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kWarnings[] = " -Wall -Wextra -Wshadow=compatible-local -Werror";

class OpenClProgramTest : public ::testing::Test {
 protected:
  // Compiles with the command that the program names, and runs the program.
  ShellOutcome Compiled(const Plan& plan, const std::string& text, const std::string& flags) {
    const ProgramOptions options = {.target = OpenClTarget()};
    const std::string name = FileName(plan, options);
    WriteText(folder_.path() + "/" + name + ".cpp", text);
    const ShellOutcome compiled = Shell(folder_, CompileCommand(plan, options) + kWarnings);
    EXPECT_EQ(compiled.exit_status, 0) << compiled.output;
    EXPECT_THAT(compiled.output, IsEmpty());
    return Shell(folder_, "./" + name + " " + flags);
  }

  std::string MakeProgram(const Plan& plan, uint64_t seed = 1) {
    const absl::StatusOr<std::string> text = CppProgram(plan, {.target = OpenClTarget(), .seed = seed});
    EXPECT_TRUE(text.ok()) << text.status();
    return text.value_or("");
  }

  void ExpectRight(const Plan& plan, const std::string& flags = "--no-time", uint64_t seed = 1) {
    const ShellOutcome run = Compiled(plan, MakeProgram(plan, seed), flags);
    EXPECT_EQ(run.exit_status, 0) << plan.name << "\n" << run.output;
    EXPECT_THAT(run.output, HasSubstr("the results are right\n"));
    if (flags.empty()) {
      EXPECT_THAT(run.output, HasSubstr(": median "));
    }
  }

  const TestFolder folder_;
};

TEST_F(OpenClProgramTest, LayerNorm) { ExpectRight(FivePlans()[0], ""); }
TEST_F(OpenClProgramTest, Attention) { ExpectRight(FivePlans()[1], ""); }
TEST_F(OpenClProgramTest, GatedMlp) { ExpectRight(FivePlans()[2]); }
TEST_F(OpenClProgramTest, StridedSoftmax) { ExpectRight(FivePlans()[3]); }
TEST_F(OpenClProgramTest, NormedLoss) { ExpectRight(FivePlans()[4]); }

TEST_F(OpenClProgramTest, RowUpdate) { ExpectRight(PlanMemory(*RowUpdatePlan(DType::kF16))->plan, ""); }

TEST_F(OpenClProgramTest, ElementUpdate) { ExpectRight(PlanMemory(*ElementUpdatePlan(DType::kF16))->plan); }

TEST_F(OpenClProgramTest, Joined) { ExpectRight(PlanMemory(*JoinedPlan(DType::kBF16))->plan); }

// Each way through the conditionals.
TEST_F(OpenClProgramTest, Routed) {
  for (const uint64_t seed : RoutedPlanSeeds()) ExpectRight(PlanMemory(*RoutedPlan())->plan, "--no-time", seed);
  ExpectRight(*RoutedPlan(DType::kF16), "");
}

// Branches without lines, and subgraphs that are no branches.
TEST_F(OpenClProgramTest, EmptyBranches) {
  PlanBuilder b("empty branches");
  const BufferRef flag = b.Input("flag", DType::kBool, {1});
  const BufferRef out = b.Call("exp", {b.Input("x", DType::kF32, {4, 8})})[0];
  b.If(flag, "if");
  b.Else("else");
  b.EnterSubgraph("int");
  b.Comment("nothing");
  b.ExitSubgraph();
  b.EndIf();
  b.EnterSubgraph("int");
  b.ExitSubgraph();
  b.Output(out);
  ExpectRight(*b.Finish());
}

// Checks that a wrong value in the expectation is reported with its position.
TEST_F(OpenClProgramTest, WrongResultsAreFound) {
  std::string text = MakeProgram(FivePlans()[0]);
  const size_t samples = text.find('{', text.find("\n    {", text.find("const Expected expected_mean = {")));
  ASSERT_NE(samples, std::string::npos);
  text.insert(samples + 1, "4");
  const ShellOutcome run = Compiled(FivePlans()[0], text, "");
  EXPECT_EQ(run.exit_status, 1) << run.output;
  EXPECT_THAT(run.output, HasSubstr("wrong: mean[0]: expected "));
  EXPECT_THAT(run.output, HasSubstr("WRONG in 1 places"));
  EXPECT_THAT(run.output, ::testing::Not(HasSubstr("median")));
}

TEST_F(OpenClProgramTest, AnElementBetweenTheSamplesIsFound) {
  const Plan plan = FivePlans()[3];
  std::string text = MakeProgram(plan);
  // Changes element 2, which is not a sample: samples are elements 0, 4, 8, ...
  const std::string line = "  CheckOutput(out, expected_out);\n";
  const size_t check = text.find(line);
  ASSERT_NE(check, std::string::npos);
  text.insert(check, "  auto bytes = Download(out, 4096);\n  bytes[5] ^= 0x40;\n  Upload(out, bytes);\n");
  const ShellOutcome run = Compiled(plan, text, "");
  EXPECT_EQ(run.exit_status, 1) << run.output;
  EXPECT_THAT(run.output, HasSubstr("wrong: out, elements 0 to 31: signed sum expected "));
}

TEST_F(OpenClProgramTest, AKernelThatDoesNotCompileIsReported) {
  std::string text = MakeProgram(FivePlans()[0]);
  text.replace(text.find("__kernel", text.find("layer_norm_source[]")), 8, "__kernal");
  const ShellOutcome run = Compiled(FivePlans()[0], text, "");
  EXPECT_EQ(run.exit_status, 2) << run.output;
  EXPECT_THAT(run.output, HasSubstr("kernel_layer_norm"));
}

TEST_F(OpenClProgramTest, NamesThatCppHasForItself) {
  PlanBuilder b("strange names");
  const BufferRef x = b.Input("for", DType::kF32, {4, 8});
  const BufferRef out = b.Call("softmax", {x}, {.names = {"a \"b\" \\"}})[0];
  b.Comment("continued \\");
  b.Output(b.Call("exp", {out}, {.names = {"Launch"}})[0]);
  ExpectRight(*b.Finish());
}

// Checks a view of a view, and a kernel of the plan that needs code for two layouts.
TEST_F(OpenClProgramTest, ViewsOfViewsAndKernelsOfTwoLayouts) {
  PlanBuilder b("views");
  const BufferRef made = b.Call("exp", {b.Input("x", DType::kF32, {96, 64})}, {.names = {"made"}})[0];
  const BufferRef lower = b.View(made, {64, 64}, {64, 1}, 2048, "lower");
  const BufferRef lowest = b.View(lower, {32, 32}, {32, 1}, 2048, "lowest");
  const BufferRef turned = b.View(lowest, {32, 32}, {1, 32}, 0, "turned");
  b.Output(b.Call("softmax", {lowest})[0]);
  b.Output(b.Call("softmax", {turned})[0]);
  b.Release(made);
  const Plan plan = *b.Finish();
  const std::string text = MakeProgram(plan);
  EXPECT_THAT(text, HasSubstr("const Buffer lowest = View(made, 4096, 1024);"));
  EXPECT_THAT(text, HasSubstr("Launch(\"softmax_strided_1\", softmax_strided_1, "));
  ExpectRight(plan, "");
}

// Checks random plans, at three shapes, with and without memory planning. TELEMETRY_RANDOM_PLANS=300 checks more of
// them.
TEST_F(OpenClProgramTest, RandomPlans) {
  const auto count = static_cast<uint64_t>(NumberFromEnvironment("TELEMETRY_RANDOM_PLANS", 3));
  for (uint64_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(seed);
    const int64_t unit = 1 + static_cast<int64_t>(seed % 3);
    const absl::StatusOr<Plan> plan = RandomPlan(seed, {.unit = unit, .for_programs = true});
    ASSERT_TRUE(plan.ok()) << plan.status();
    ExpectRight(seed % 4 == 0 ? *plan : PlanMemory(*plan)->plan, "--no-time", seed);
  }
}

TEST_F(OpenClProgramTest, NothingToDo) {
  PlanBuilder b("empty");
  b.Output(b.Call("softmax", {b.Input("x", DType::kF32, {0, 8})})[0]);
  b.View(b.Allocate("unused", DType::kI32, {3}), {2}, {1}, 0, "of_unused");
  ExpectRight(*b.Finish(), "");
}

// Checks launches with integers, indices, flags and scalars as arguments.
TEST_F(OpenClProgramTest, LaunchesOfTheLibrary) {
  const auto expect_right = [&](const std::string& name, DType dtype, const kernels::Numbers& numbers) {
    const kernels::LibraryKernel& kernel = **kernels::FindKernel(name);
    kernels::Sizes sizes = kernel.default_sizes;
    for (auto& [dimension, size] : sizes) size = std::min<int64_t>(size, 40);
    const absl::StatusOr<Plan> plan =
        PlanOfLaunch(kernel, kernels::MakeProblem(kernel, dtype, sizes, numbers), std::nullopt);
    ASSERT_TRUE(plan.ok()) << plan.status();
    ExpectRight(*plan);
  };
  expect_right("add", DType::kI32, {});
  expect_right("attention", DType::kF16, {{"causal", 1}});
  expect_right("cross_entropy", DType::kF16, {});
  expect_right("rms_norm", DType::kBF16, {{"eps", 0.25}});
}

// Checks that the program contains the code that worker/runtime generates for the same tensors.
TEST(CppProgramTest, CodeIsTheOneThatIsTuned) {
  const auto device = device::OpenDevice("opencl:0");
  ASSERT_TRUE(device.ok()) << device.status();
  const Plan plan = *StridedSoftmaxPlan();
  runtime::KernelSpec spec = kernels::MakeKernelSpec(*plan.kernels[0].library);
  const auto kernel = runtime::Kernel::Create(std::move(spec));
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const runtime::Tensor x = *runtime::ToDevice(*device, ir::HostArray::Strided(DType::kF16, {64, 64}, {1, 64}));
  const auto bound = (*kernel)->Bind({x});
  ASSERT_TRUE(bound.ok()) << bound.status();
  const absl::StatusOr<std::string> program =
      CppProgram(plan, {.target = codegen::Target::For((*device)->properties())});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(*program, HasSubstr(*(*bound)->ToSource((*bound)->config_space().Default())));
}

// Checks CUDA programs with headers that declare only the functions that programs use.
TEST(CppProgramTest, CudaProgramsCompileWithoutWarnings) {
  const TestFolder folder;
  std::vector<Plan> plans = FivePlans();
  plans.push_back(*RoutedPlan());
  for (const Plan& plan : plans) {
    const absl::StatusOr<std::string> text = CppProgram(plan, {.target = CudaTarget(), .measured_ms = 0.25});
    ASSERT_TRUE(text.ok()) << text.status();
    WriteText(folder.path() + "/program.cpp", *text);
    const ShellOutcome compiled = Shell(folder, std::string("g++ -std=c++17 -fsyntax-only program.cpp -I") +
                                                    TELEMETRY_PROGRAM_TESTS "/cuda_headers" + kWarnings);
    EXPECT_EQ(compiled.exit_status, 0) << plan.name << "\n" << compiled.output;
  }
}

// A plan with kernels of CUDA specifications can be written only on a machine with a GPU.
TEST(CppProgramTest, LaunchesOfSourcesCompileForCuda) {
  const TestFolder folder;
  std::string text = CppProgram(FivePlans()[0], {.target = CudaTarget()}).value();
  text.insert(text.find("\n// ---- The kernels."),
              std::string(RuntimeText("source.cpp")) + std::string(RuntimeText("source_cuda.cpp")) + R"(
void LaunchOne(Buffer x) {
  static const Kernel scale = CompileSource("scale<float, 64>", "", {"-arch=sm_90"});
  LaunchSource("scale", scale, {{4, 1, 1}, {64, 1, 1}, 0, true}, x, float(0.5), int32_t(3));
}
)");
  WriteText(folder.path() + "/program.cpp", text);
  const ShellOutcome compiled = Shell(folder, std::string("g++ -std=c++17 -fsyntax-only program.cpp -I") +
                                                  TELEMETRY_PROGRAM_TESTS "/cuda_headers" + kWarnings);
  EXPECT_EQ(compiled.exit_status, 0) << compiled.output;
}

TEST(CppProgramTest, OneCommand) {
  EXPECT_EQ(CompileCommand(*LayerNormPlan(), {.target = OpenClTarget(), .name = "run 7"}),
            "g++ -std=c++17 -O2 run_7.cpp -o run_7 -l:libOpenCL.so.1");
  EXPECT_THAT(CompileCommand(*LayerNormPlan(), {.target = CudaTarget()}), HasSubstr("/stubs"));
  EXPECT_THAT(CompileCommand(*LayerNormPlan(), {.target = CudaTarget()}), ::testing::Not(HasSubstr("cublas")));
  EXPECT_THAT(CompileCommand(*GatedMlpPlan(), {.target = CudaTarget()}), HasSubstr("-lcublas"));
}

TEST(CppProgramTest, SaysWhatItCannotWrite) {
  Plan broken = *LayerNormPlan();
  broken.lines.erase(broken.lines.begin());
  EXPECT_THAT(std::string(CppProgram(broken, {.target = OpenClTarget()}).status().message()),
              HasSubstr("is not defined yet"));

  PlanBuilder b("externs");
  b.Output(b.CallExtern("softmax", {b.Input("x", DType::kF32, {4, 8})})[0]);
  const absl::Status status = CppProgram(*b.Finish(), {.target = OpenClTarget()}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the extern kernel 'softmax', only bmm, layer_norm and matmul"));

  PlanBuilder views("views");
  const BufferRef made = views.Call("exp", {views.Input("x", DType::kF32, {4, 8})}, {.names = {"made"}})[0];
  views.Output(views.Call("softmax", {views.View(made, {2, 8}, {8, 1}, 16, "half")})[0]);
  const absl::Status view = CppProgram(*views.Finish(), {.target = CudaTarget()}).status();
  EXPECT_EQ(view.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(view.message()), HasSubstr("offset 64 is not a multiple of 4096 bytes"));
}

// Returns a plan of products with row-major and column-major operands, operands with gaps, and one operand for all of a
// batch.
absl::StatusOr<Plan> LibraryProductsPlan(DType dtype) {
  PlanBuilder b("products");
  const BufferRef x = b.Input("x", dtype, {40, 24}, {32, 1});
  const BufferRef y = b.Input("y", dtype, {24, 56}, {1, 24});
  const BufferRef product = b.CallExtern("matmul", {x, y}, {.names = {"product"}})[0];
  const BufferRef batches = b.View(product, {4, 10, 56}, {560, 56, 1}, 0, "batches");
  const BufferRef same = b.View(y, {4, 56, 24}, {0, 24, 1}, 0, "same");
  const BufferRef small = b.CallExternAllocating("bmm", {batches, same}, {.names = {"small"}})[0];
  b.Output(product);
  b.Output(b.Call("softmax", {b.View(small, {40, 24}, {24, 1}, 0, "rows")}, {.names = {"out"}})[0]);
  return b.Finish();
}

TEST_F(OpenClProgramTest, LibraryProducts) { ExpectRight(*LibraryProductsPlan(DType::kBF16)); }

TEST(CppProgramTest, CublasTakesMatricesByRowsAndByColumns) {
  const auto is_for_cublas = [](std::vector<int64_t> sizes, std::vector<int64_t> strides) {
    PlanBuilder b("product");
    const BufferRef x = b.Input("x", DType::kF32, std::move(sizes), std::move(strides));
    b.Output(b.CallExtern("matmul", {x, b.Input("y", DType::kF32, {8, 8})})[0]);
    const std::string text = CppProgram(*b.Finish(), {.target = CudaTarget()}).value();
    return text.find("HostProduct(") == std::string::npos;
  };
  EXPECT_TRUE(is_for_cublas({4, 8}, {8, 1}));
  EXPECT_TRUE(is_for_cublas({4, 8}, {20, 1}));
  EXPECT_TRUE(is_for_cublas({4, 8}, {1, 4}));
  EXPECT_TRUE(is_for_cublas({1, 8}, {0, 1}));
  EXPECT_FALSE(is_for_cublas({4, 8}, {0, 1}));
  EXPECT_FALSE(is_for_cublas({4, 8}, {16, 2}));
  EXPECT_FALSE(is_for_cublas({0, 8}, {8, 1}));
}

// Writes the programs of the five plans, and of launches of real sizes, to the folder TELEMETRY_WRITE_PROGRAMS, for a
// machine with a GPU.
TEST(CppProgramTest, WritesProgramsForAGpu) {
  const char* folder = std::getenv("TELEMETRY_WRITE_PROGRAMS");
  if (folder == nullptr) GTEST_SKIP() << "TELEMETRY_WRITE_PROGRAMS is not set";
  std::vector<Plan> plans = FivePlans();
  const auto add = [&](absl::StatusOr<Plan> plan, const std::string& suffix) {
    ASSERT_TRUE(plan.ok()) << plan.status();
    plan->name += suffix;
    plans.push_back(*std::move(plan));
  };
  add(AttentionPlan(DType::kF16), "_f16");
  add(AttentionPlan(DType::kBF16), "_bf16");
  add(StridedSoftmaxPlan(DType::kBF16), "_bf16");
  add(NormedLossPlan(DType::kF16), "_f16");
  add(LibraryProductsPlan(DType::kF16), "_f16");
  add(RoutedPlan(), "_f32");
  add(LibraryProductsPlan(DType::kBF16), "_bf16");
  add(LibraryProductsPlan(DType::kF32), "_f32");
  const auto launch = [](const std::string& name, DType dtype, const std::string& config) {
    const kernels::LibraryKernel& kernel = **kernels::FindKernel(name);
    return PlanOfLaunch(kernel, kernels::MakeProblem(kernel, dtype), *codegen::Config::Parse(config));
  };
  add(launch("softmax", DType::kF16, "Config()"), "_default");
  add(launch("softmax", DType::kF16, "Config(block_sizes=[1], num_warps=4, num_ctas=1)"), "_one");
  add(launch("softmax", DType::kF16, "Config(block_sizes=[1], num_warps=4, num_ctas=2)"), "_cluster");
  add(launch("bmm", DType::kF16, "Config()"), "_default");
  add(launch("bmm", DType::kF16, "Config(block_sizes=[128, 128, 64], num_warps=8, num_stages=3)"), "_wgmma");
  for (const Plan& plan : plans) {
    const ProgramOptions options = {.target = CudaTarget(), .measured_ms = 0.01};
    const std::string name = std::string(folder) + "/" + FileName(plan, options);
    const absl::StatusOr<std::string> cpp = CppProgram(plan, options);
    ASSERT_TRUE(cpp.ok()) << plan.name << ": " << cpp.status();
    WriteText(name + ".cpp", *cpp);
    WriteText(name + ".sh", CompileCommand(plan, options) + " -Wall -Wextra\n");
    WriteText(name + ".py", PythonProgram(plan, options).value());
  }
  for (const Plan& plan : FivePlans()) {
    const ProgramOptions options = {.target = OpenClTarget(), .name = plan.name + "_opencl"};
    const std::string name = std::string(folder) + "/" + FileName(plan, options);
    WriteText(name + ".cpp", CppProgram(plan, options).value());
    WriteText(name + ".sh", CompileCommand(plan, options) + " -Wall -Wextra\n");
  }
}

}  // namespace
}  // namespace telemetry::worker::wrapper::program
