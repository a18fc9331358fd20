// Tests `telemetry-worker tune --spec` and `show-code --spec` as programs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
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

TEST(SpecCommandTest, TheEffortCanBeThatOfOtherTuners) {
  const TempFolder folder;
  const std::string timeline = folder.File("timeline.csv");
  const ProgramOutcome outcome = RunProgram(
      "telemetry-worker", "tune --spec " + TestdataDir() + kSpec + " --device opencl:0 --collector '' --log " +
                              folder.File("log") + " --state-dir " + folder.path() +
                              " --max-configs 2 --compilers 1 --samples 7 --warm-caches --timeline " + timeline);
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  std::ostringstream text;
  text << std::ifstream(timeline).rdbuf();
  for (const char* step : {"inputs,,", "reference compile,,", "problem,,", "reference run,,", "final,,"}) {
    EXPECT_THAT(text.str(), HasSubstr(std::string("\n") + step));
  }
  for (const char* step : {"compile", "wait", "load", "run", "check", "sample", "record"}) {
    EXPECT_THAT(text.str(), HasSubstr(std::string("\n") + step + ",\"Config("));
  }
}

TEST(SpecCommandTest, RefusesAnEffortOfNoSamples) {
  const ProgramOutcome refused = RunProgram("telemetry-worker", "tune add --samples 0");
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_THAT(refused.output, HasSubstr("--samples"));
}

TEST(SpecCommandTest, TheMemoryOfCompilersHasALimit) {
  const TempFolder folder;
  // The reference has 10^10 statements.
  std::ofstream(folder.File("large.cl")) << R"(
#define TEN(x) x x x x x x x x x x
#define HUNDRED(x) TEN(TEN(x))
__kernel void large(__global int* out) {
#if mode == 1
  HUNDRED(HUNDRED(HUNDRED(HUNDRED(HUNDRED(out[get_global_id(0)] += 1;)))))
#endif
})";
  std::ofstream(folder.File("large.json")) << R"({
    "ConfigurationSpace": {"TuningParameters": [{"Name": "mode", "Type": "int", "Values": "[0, 1]"}]},
    "KernelSpecification": {"Language": "OpenCL", "KernelName": "large", "KernelFile": "large.cl",
      "GlobalSize": {"X": "64"}, "LocalSize": {"X": "16"},
      "Arguments": [{"Name": "out", "Type": "int32", "MemoryType": "Vector", "Size": 64}],
      "Verification": {"Method": "ReferenceConfig", "Config": {"mode": 1}}}})";
  const auto tune = [&](const std::string& flag) {
    return RunProgram("telemetry-worker", "tune --spec " + folder.File("large.json") +
                                              " --device opencl:0 --collector '' --log " + folder.File("log") +
                                              " --state-dir " + folder.path() + " --compilers 1 " + flag);
  };
  // The compiler of the small config stays below the limit, also under AddressSanitizer with an empty cache of PoCL,
  // where it uses more than 300 MiB.
  const ProgramOutcome limited = tune("--compile-memory 600MiB");
  EXPECT_EQ(limited.exit_status, 1);
  EXPECT_THAT(limited.output, HasSubstr("used more than 600 MiB of memory and was killed"));
  for (const char* size : {"63MiB", "2TiB", "-1", "much"}) {
    const ProgramOutcome refused = tune(std::string("--compile-memory=") + size);
    EXPECT_EQ(refused.exit_status, 2) << refused.output;
    EXPECT_THAT(refused.output, HasSubstr("--compile-memory")) << size;
  }
  EXPECT_THAT(RunProgram("telemetry-worker", "tune --help").output, HasSubstr("Memory limit of a compiler process"));
}

TEST(SpecCommandTest, TheBestConfigIsAHeaderThatCompiles) {
  const TempFolder folder;
  const std::string of_spec = " --spec " + TestdataDir() + kSpec + " --device opencl:0 --state-dir " + folder.path();
  ProgramOutcome outcome = RunProgram("telemetry-worker", "best" + of_spec);
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_THAT(outcome.output, HasSubstr("telemetry-worker tune"));
  outcome = RunProgram("telemetry-worker",
                       "tune --collector '' --max-configs 3 --compilers 1 --log " + folder.File("log") + of_spec);
  ASSERT_EQ(outcome.exit_status, 0) << outcome.output;
  outcome = RunProgram("telemetry-worker", "best" + of_spec);
  EXPECT_THAT(outcome.output, HasSubstr("\"kernel_name\": \"pnpoly\""));
  EXPECT_THAT(outcome.output, HasSubstr("\"block_size_x\": "));

  const std::string plain = folder.File("plain.h");
  const std::string prefixed = folder.File("prefixed.h");
  EXPECT_EQ(RunProgram("telemetry-worker", "best --format header" + of_spec + " > " + plain).exit_status, 0);
  EXPECT_EQ(
      RunProgram("telemetry-worker", "best --format header --prefix PNPOLY_" + of_spec + " > " + prefixed).exit_status,
      0);
  std::ofstream(folder.File("user.c")) << R"(
#include "plain.h"
#include "plain.h"
#include "prefixed.h"
int main(void) {
  const long threads = (long)launch_threads_x * launch_threads_y * launch_threads_z;
  const long points = launch_blocks_x * threads * points_per_item;
  return block_size_x == PNPOLY_block_size_x && launch_threads_x == block_size_x && method == PNPOLY_method &&
         points >= 1000 && PNPOLY_launch_blocks_y == 1 && launch_shared_bytes == 0 ? 0 : 1;
}
)";
  const std::string build = "cd " + folder.path() + " && cc -std=c99 -pedantic -Wall -Wextra -Werror user.c -o user";
  EXPECT_EQ(std::system((build + " && ./user").c_str()), 0) << build;

  outcome = RunProgram("telemetry-worker", "best --format header --prefix 1-2" + of_spec);
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_THAT(outcome.output, HasSubstr("--prefix '1-2'"));
  outcome = RunProgram("telemetry-worker", "best softmax --format header");
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_THAT(outcome.output, HasSubstr("--spec"));
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
