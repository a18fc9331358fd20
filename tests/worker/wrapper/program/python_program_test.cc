#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/wrapper/program/program_fixture.h"
#include "tests/worker/wrapper/sample_plans.h"
#include "worker/ir/host_array.h"
#include "worker/kernels/draw.h"
#include "worker/wrapper/program/program.h"
#include "worker/wrapper/program/program_text.h"

namespace telemetry::worker::wrapper::program {
namespace {

using ::testing::HasSubstr;

// Runs the functions of the program for values and checks, without a device.
ShellOutcome RunPython(const std::string& script) {
  const TestFolder folder;
  WriteText(folder.path() + "/values.py", "import sys\nimport numpy as np\n" + std::string(RuntimeText("values.py")) +
                                              std::string(RuntimeText("check.py")) + script);
  return Shell(folder, Python() + " -W error values.py");
}

class PythonProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (Shell({}, Python() + " -c 'import numpy'").exit_status != 0) GTEST_SKIP() << "no NumPy";
  }
};

TEST_F(PythonProgramTest, DrawsTheLibrarysBits) {
  std::string script = "random = Random(12345)\n";
  std::string expected;
  Random random(12345);
  using device::DType;
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kI32, DType::kBool}) {
    const kernels::DrawRange range = {.low = IsFloat(dtype) ? -0.125 : -7, .high = 3};
    const ir::HostArray drawn{
        .dtype = dtype, .sizes = {1000}, .strides = {1}, .data = kernels::Draw(dtype, range, 1000, random)};
    expected += Hex(ir::ToBytes(drawn)) + "\n";
    script += "print(random.draw('" + std::string(ShortName(dtype)) + "', 1000, " + std::to_string(range.low) +
              ", 3).tobytes().hex())\n";
  }
  const ShellOutcome run = RunPython(script);
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_EQ(run.output, expected);
}

TEST_F(PythonProgramTest, ChecksAsTheProgramsInCppDo) {
  const std::string right = "values = np.arange(4096.0).reshape(64, 64)\n";
  std::vector<double> values;
  for (int i = 0; i < 4096; ++i) values.push_back(i);
  const Expectation expected = MakeExpectation(values, {.absolute = 0.01});
  std::string check = "check_values('out', values, 0.01, 0, 0, [";
  for (const double sample : expected.samples) check += NumberText(sample, 0, "", "") + ", ";
  check += "], " + std::to_string(expected.stripe_length) + ", [";
  for (const Stripe& stripe : expected.stripes) {
    check += "(" + NumberText(stripe.sum, 0, "", "") + ", " + NumberText(stripe.tolerance, 4, "", "") + "), ";
  }
  check += "])\nprint(wrong)\n";
  EXPECT_EQ(RunPython(right + check).output, "0\n");
  EXPECT_EQ(RunPython(right + "values[0, 4] += 0.02\n" + check).output,
            "wrong: out[0, 4]: expected 4, got 4.02, tolerance 0.01\n1\n");
  EXPECT_THAT(RunPython(right + "values[0, 5] += 1\n" + check).output,
              HasSubstr("wrong: out, elements 0 to 31: signed sum expected"));
  EXPECT_THAT(RunPython(right + "values[0, 5] = np.nan\n" + check).output,
              HasSubstr("expected 0 values that are not finite, got 1\n"));
}

TEST_F(PythonProgramTest, ProgramsAreGoodPython) {
  const TestFolder folder;
  std::vector<Plan> plans = FivePlans();
  plans.push_back(*RoutedPlan());
  for (const Plan& plan : plans) {
    const absl::StatusOr<std::string> text = PythonProgram(plan, {.target = CudaTarget()});
    ASSERT_TRUE(text.ok()) << text.status();
    WriteText(folder.path() + "/program.py", *text);
    const ShellOutcome compiled = Shell(folder, Python() + " -W error -m py_compile program.py");
    EXPECT_EQ(compiled.exit_status, 0) << plan.name << "\n" << compiled.output;
  }
}

// Checks that a missing CuPy, for example, is not reported as a wrong result.
TEST(PythonProgramErrorsTest, WhatCannotRunExitsWith2) {
  const TestFolder folder;
  std::string text = PythonProgram(*LayerNormPlan(), {.target = CudaTarget()}).value();
  text.replace(text.find("import cupy"), 11, "import no_such_cupy");
  WriteText(folder.path() + "/program.py", text);
  const ShellOutcome run = Shell(folder, Python() + " program.py");
  EXPECT_EQ(run.exit_status, 2) << run.output;
  EXPECT_THAT(run.output, HasSubstr("No module named 'no_such_cupy'"));
}

TEST(PythonProgramErrorsTest, IsForCudaOnly) {
  const absl::Status status = PythonProgram(*LayerNormPlan(), {.target = OpenClTarget()}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("Python programs need CUDA"));
}

}  // namespace
}  // namespace telemetry::worker::wrapper::program
