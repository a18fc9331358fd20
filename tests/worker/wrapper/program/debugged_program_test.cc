// Tests that the debug calls of a program print and save the same bytes as the debugger of a run of its plan.

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/environment.h"
#include "tests/worker/wrapper/program/debugged_program_fixture.h"
#include "tests/worker/wrapper/random_plan.h"
#include "tests/worker/wrapper/sample_plans.h"
#include "worker/wrapper/file/plan_file.h"
#include "worker/wrapper/launch_plan.h"
#include "worker/wrapper/memory_plan.h"
#include "worker/wrapper/program/plan_values.h"

namespace telemetry::worker::wrapper::program {
namespace {

using debug::DebugLevel;
using debug::DebugOptions;
using device::DType;
using ::testing::HasSubstr;
using ::testing::Not;

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

// Each way through the conditionals. Tests run in parallel, and programs in C++ take seconds to compile: one test for
// each way.
class RoutedProgramTest : public DebuggedProgramTest, public ::testing::WithParamInterface<size_t> {};
INSTANTIATE_TEST_SUITE_P(Ways, RoutedProgramTest, ::testing::Range<size_t>(0, 4));

TEST_P(RoutedProgramTest, Routed) {
  seed_ = RoutedPlanSeeds()[GetParam()];
  Expect(*RoutedPlan(), {.level = DebugLevel::kSave});
  Expect(*RoutedPlan(), {.level = DebugLevel::kPrint}, /*with_cpp=*/GetParam() == 0);
  Expect(*RoutedPlan(), {.level = DebugLevel::kNames}, /*with_cpp=*/GetParam() == 0);
}

TEST_F(DebuggedProgramTest, TheWaysThroughConditionalsDiffer) {
  std::set<std::string> shown;
  for (const uint64_t seed : RoutedPlanSeeds()) {
    seed_ = seed;
    shown.insert(OfRunTime({*RoutedPlan()}, {.level = DebugLevel::kNames}, NewFolder()).lines);
  }
  EXPECT_EQ(shown.size(), 3u);
}

// TELEMETRY_RANDOM_PLANS=300 checks more of them, in four tests. Programs in C++ take seconds to compile: only some are
// checked here (cpp_program_test checks their results).
class RandomProgramTest : public DebuggedProgramTest, public ::testing::WithParamInterface<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Parts, RandomProgramTest, ::testing::Range<uint64_t>(0, 4));

TEST_P(RandomProgramTest, RandomPlans) {
  const auto count = static_cast<uint64_t>(NumberFromEnvironment("TELEMETRY_RANDOM_PLANS", 8));
  for (uint64_t seed = GetParam(); seed < count; seed += 4) {
    seed_ = seed;
    const int64_t unit = 1 + static_cast<int64_t>(seed % 3);
    const absl::StatusOr<Plan> plan = RandomPlan(seed, {.unit = unit, .for_programs = true});
    ASSERT_TRUE(plan.ok()) << plan.status();
    // Each part has both levels, and plans with and without memory planning.
    const DebugLevel level = seed / 4 % 2 == 0 ? DebugLevel::kPrint : DebugLevel::kSave;
    Expect(seed / 8 % 2 == 0 ? *plan : PlanMemory(*plan)->plan, {.level = level}, /*with_cpp=*/seed % 8 == 0);
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
  OfRunTime({plan}, options, of_run_time);
  const Observed expected = OfRunTime({plan}, options, of_run_time);
  EXPECT_EQ(expected.files.size(), 32u);
  const std::string of_cpp = NewFolder();
  OfCpp(plan, options, of_cpp);
  ExpectSame(RunProgram(of_cpp, "./program --no-time"), expected);
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
  const Observed expected = OfRunTime({plan}, options, blocked());
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
  ExpectSame(OfCpp(plan, options, NewFolder(), ""), OfRunTime({plan}, options, NewFolder()));
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
