// Tests programs of several shapes in C++ and Python: each shape gives the results that the reference gives at this
// shape, and debug calls show what a debugger shows that runs the shapes one after the other.

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/wrapper/program/debugged_program_fixture.h"
#include "worker/wrapper/file/symbolic_plan.h"
#include "worker/wrapper/memory_plan.h"

namespace telemetry::worker::wrapper::program {
namespace {

using debug::DebugLevel;
using debug::DebugOptions;
using ::testing::HasSubstr;
using ::testing::Not;

class ShapeProgramsTest : public DebuggedProgramTest {
 protected:
  // Returns the commands of the programs of the shapes in C++ and, with NumPy or CuPy, in Python.
  std::vector<std::string> Write(const std::vector<PlanShape>& shapes, const DebugOptions& debug,
                                 const std::string& folder) {
    std::vector<std::string> commands = {WriteCpp(shapes, OptionsFor(debug), folder)};
    if (HasCupy()) commands.push_back(WritePython(shapes, OptionsFor(debug), folder));
    return commands;
  }

  void ExpectResultsOfEachShape(const std::vector<PlanShape>& shapes) {
    const std::string symbol = shapes[0].sizes.begin()->first;
    const std::string folder = NewFolder();
    for (const std::string& command : Write(shapes, {}, folder)) {
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
    std::string wrong = ReadText(folder + "/program.cpp");
    const size_t last = wrong.rfind("const Expected ");
    wrong.replace(wrong.find("\n    {", last), 7, "\n    {1e9, ");
    WriteText(folder + "/program.cpp", wrong);
    Compile(PlanToCompile(shapes, OptionsFor({})), OptionsFor({}), folder);
    EXPECT_EQ(ShellIn(folder, "./program --no-time").exit_status, 1);
    EXPECT_EQ(ShellIn(folder, "./program --no-time --size " + symbol + "=65").exit_status, 0);
  }

  // Compares the programs of the shapes with runs of the shapes by one debugger, whose observations it returns.
  Observed ExpectShapes(const std::vector<PlanShape>& shapes, DebugLevel level, bool with_last_alone = true) {
    SCOPED_TRACE("level " + std::to_string(static_cast<int>(level)));
    std::vector<Plan> plans;
    for (const PlanShape& shape : shapes) plans.push_back(shape.plan);
    Observed expected = OfRunTime(plans, {.level = level}, NewFolder());
    const Observed last = OfRunTime({plans.back()}, {.level = level}, NewFolder());
    const auto& [symbol, size] = *shapes.back().sizes.begin();
    const std::string written = NewFolder();
    for (const std::string& command : Write(shapes, {.level = level, .folder = "values"}, written)) {
      SCOPED_TRACE(command);
      ExpectSame(RunProgram(written, command + " --no-time"), expected);
      std::filesystem::remove_all(written + "/values");
      if (!with_last_alone) continue;
      ExpectSame(RunProgram(written, absl::StrCat(command, " --no-time --size ", symbol, "=", size)), last);
      std::filesystem::remove_all(written + "/values");
    }
    return expected;
  }
};

TEST_F(ShapeProgramsTest, ResultsOfShapesThatDecideConditionals) { ExpectResultsOfEachShape(DecidedShapes()); }
TEST_F(ShapeProgramsTest, ResultsOfAttention) { ExpectResultsOfEachShape(AttentionShapes()); }

TEST_F(ShapeProgramsTest, SavesTheValuesOfEachShape) {
  const Observed saved = ExpectShapes(AttentionShapes(), DebugLevel::kSave);
  // One shape has two calls of bmm and one of softmax.
  EXPECT_EQ(saved.files.size(), 3 * 16u);
  EXPECT_TRUE(saved.files.contains("after_launch_bmm_1_out.3.npy"));
  EXPECT_TRUE(saved.files.contains("after_launch_softmax_out.3.npy"));
}

TEST_F(ShapeProgramsTest, PrintsTheValuesOfEachShape) {
  const Observed printed = ExpectShapes(DecidedShapes(), DebugLevel::kPrint);
  for (const char* sizes : {"sizes=[16, ", "sizes=[65, ", "sizes=[128, "}) {
    EXPECT_THAT(printed.lines, HasSubstr(sizes));
  }
}

TEST_F(ShapeProgramsTest, PrintsTheNamesOfEachShape) {
  const Observed names = ExpectShapes(DecidedShapes(), DebugLevel::kNames);
  EXPECT_THAT(names.lines, HasSubstr("[before_launch - softmax]\n"));
}

// Each shape has a first NaN of its own: the NaN of the second is that of a buffer which the first one had, too.
TEST_F(ShapeProgramsTest, FindsTheFirstNaNOfEachShape) {
  const std::vector<PlanShape> shapes = {{.sizes = {{"n", 1}}, .plan = UnwrittenPlan()},
                                         {.sizes = {{"n", 2}}, .plan = UnwrittenPlan()}};
  const Observed saved = ExpectShapes(shapes, DebugLevel::kSave, /*with_last_alone=*/false);
  const std::string line =
      "[first_nan] the first tensor with a NaN is 'unwritten' (2048 of 2048 elements), an input of the program\n";
  EXPECT_EQ(saved.lines, line + line);
}

TEST_F(ShapeProgramsTest, TimedLaunchesAreNotShown) {
  std::vector<PlanShape> shapes = DecidedShapes();
  shapes.resize(2);  // timing takes a second for each launch
  const DebugOptions options = {.level = DebugLevel::kNames};
  const std::string folder = NewFolder();
  std::vector<Plan> plans;
  for (const PlanShape& shape : shapes) plans.push_back(shape.plan);
  ExpectSame(RunProgram(folder, WriteCpp(shapes, OptionsFor(options), folder)), OfRunTime(plans, options, NewFolder()));
}

// A plan whose sizes decide its conditionals, on each side of them.
TEST_F(ShapeProgramsTest, DecidedBySizes) {
  const auto plan = *file::SymbolicPlan::Read(TELEMETRY_PROGRAM_TESTS "/../file/decided.json");
  for (const int64_t rows : {64, 65}) {
    const MemoryPlan planned = *PlanMemory(*plan->At({{"rows", rows}}), MemoryScope::kAllSizes);
    const std::string shown = Expect(planned.plan, {.level = DebugLevel::kNames}).lines;
    EXPECT_EQ(shown.find("softmax") != std::string::npos, rows == 65);
  }
}

}  // namespace
}  // namespace telemetry::worker::wrapper::program
