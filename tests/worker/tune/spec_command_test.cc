// Tests `telemetry-worker tune --spec` and `show-code --spec` as programs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/paths.h"
#include "tests/run_program.h"
#include "tests/temp_folder.h"

namespace telemetry::worker::tune {
namespace {

using testing::HasSubstr;

const char* const kSpec = "/t1/opencl/pnpoly.json";

TEST(SpecCommandTest, TunesAndWritesSidecars) {
  const TempFolder folder;
  const ProgramOutcome outcome = RunProgram(
      "telemetry-worker", "tune --spec " + TestdataDir() + kSpec + " --device opencl:0 --collector '' --log " +
                              folder.File("log") + " --state-dir " + folder.path() +
                              " --max-configs 3 --compilers 1 --budget 10s");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("pnpoly [(1000,), (2000,), (120,)]"));
  EXPECT_THAT(folder.Names(), testing::IsSupersetOf({"log.csv", "log.meta.jsonl"}));
}

TEST(SpecCommandTest, ShowsTheSourceOfAConfig) {
  const ProgramOutcome outcome =
      RunProgram("telemetry-worker", "show-code --spec " + TestdataDir() + kSpec +
                                         " --kernel-config 'Config(block_size_x=16, points_per_item=5, method=True)'");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("#define problem_points 1000\n#define block_size_x 16\n#define points_per_item "
                                        "5\n#define method 1\n__kernel void pnpoly("));
}

TEST(SpecCommandTest, WrongUsage) {
  EXPECT_EQ(RunProgram("telemetry-worker", "tune --collector ''").exit_status, 2);
  EXPECT_EQ(RunProgram("telemetry-worker", "tune softmax --spec x.json").exit_status, 2);
}

}  // namespace
}  // namespace telemetry::worker::tune
