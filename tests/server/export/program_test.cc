// Tests the command line of telemetry-export: accepted arguments, messages and exit status.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/run_program.h"
#include "tests/temp_folder.h"

namespace telemetry::exporter {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

ProgramOutcome RunExport(const std::string& arguments, const std::string& environment = "") {
  return RunProgram("telemetry-export", arguments, environment);
}

TEST(Program, HelpShowsExamples) {
  ProgramOutcome outcome = RunExport("--help");
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_THAT(outcome.output, HasSubstr("Examples:"));
  EXPECT_THAT(outcome.output, HasSubstr("TELEMETRY_EXPORT_DB"));
}

TEST(Program, VersionIsPrinted) {
  ProgramOutcome outcome = RunExport("--version");
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_THAT(outcome.output, HasSubstr("telemetry-export 0."));
}

TEST(Program, WrongUsageEndsWithTwoAndSaysWhatToDo) {
  const std::pair<const char*, const char*> cases[] = {
      {"--out x", "--db FILE or --collector HOST:PORT"},
      {"--db a --collector b:1 --out x", "--db"},
      {"--db a", "--out"},
      {"--db a --out x --layout csv", "kernel-tuner-cache"},
      {"--db a --out x --attempts first", "latest"},
      {"--db a --out x --compress rar", "zstd"},
      {"--db a --out x --since noon", "2025-03-01"},
      {"--db a --out x --run abc", "first 4"},
      {"--db a --out x --run XYZW", "hex digits"},
      {"--db a --out x --frobnicate", "--frobnicate"},
      {"--db a --ot x", "--ot"},
      {"--db '' --out x", "--db"},
      {"--db a --out ''", "--out"},
      {"--db a --out x --run ''", "--run"},
      {"--db a --out x --kernel ''", "--kernel"},
      {"--db a --out x --since ''", "--since"},
  };
  for (const auto& [arguments, advice] : cases) {
    ProgramOutcome outcome = RunExport(arguments);
    EXPECT_EQ(outcome.exit_status, 2) << arguments << "\n" << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(advice)) << arguments;
  }
}

TEST(Program, AMissingDatabaseEndsWithOneAndIsNamed) {
  TempFolder folder;
  ProgramOutcome outcome = RunExport("--db " + folder.File("missing.db") + " --out " + folder.File("data"));
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_THAT(outcome.output, HasSubstr("missing.db"));
  EXPECT_THAT(folder.Names(), IsEmpty());
}

TEST(Program, ACollectorThatIsNotThereEndsWithOneAndIsNamed) {
  TempFolder folder;
  ProgramOutcome outcome = RunExport("--collector 127.0.0.1:1 --out " + folder.File("data"));
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_THAT(outcome.output, HasSubstr("127.0.0.1:1"));
  EXPECT_THAT(folder.Names(), IsEmpty());
}

TEST(Program, OptionsComeFromTheEnvironmentAndAFile) {
  TempFolder folder;
  std::ofstream(folder.File("export.toml")) << "layout = \"nonsense\"\n";
  EXPECT_THAT(RunExport("--db a --out x --config " + folder.File("export.toml")).output, HasSubstr("nonsense"));
  EXPECT_THAT(RunExport("--db a --out x", "TELEMETRY_EXPORT_SINCE=nonsense").output, HasSubstr("nonsense"));
}

TEST(Program, TheConfigFileComesFromTheEnvironmentToo) {
  TempFolder folder;
  std::ofstream(folder.File("export.toml")) << "layout = \"nonsense\"\n";
  EXPECT_THAT(RunExport("--db a --out x", "TELEMETRY_EXPORT_CONFIG=" + folder.File("export.toml")).output,
              HasSubstr("nonsense"));
  EXPECT_EQ(RunExport("--db a --out x", "TELEMETRY_EXPORT_CONFIG=" + folder.File("missing.toml")).exit_status, 2);
}

TEST(Program, AMistypedKeyInTheConfigFileIsNamed) {
  TempFolder folder;
  std::ofstream(folder.File("export.toml")) << "layuot = \"helion\"\n";
  ProgramOutcome outcome = RunExport("--db a --out x --config " + folder.File("export.toml"));
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_THAT(outcome.output, HasSubstr("layuot"));
}

TEST(Program, AFlagForTheSourceWinsOverTheEnvironment) {
  TempFolder folder;
  const std::string out = " --out " + folder.File("data");
  ProgramOutcome outcome = RunExport("--collector 127.0.0.1:1" + out, "TELEMETRY_EXPORT_DB=" + folder.File("a.db"));
  EXPECT_EQ(outcome.exit_status, 1) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("127.0.0.1:1"));
  outcome = RunExport("--db " + folder.File("a.db") + out, "TELEMETRY_EXPORT_COLLECTOR=127.0.0.1:1");
  EXPECT_EQ(outcome.exit_status, 1) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("a.db"));
}

TEST(Program, TheSourceComesFromTheEnvironmentWhereNoFlagNamesIt) {
  TempFolder folder;
  const std::string out = "--out " + folder.File("data");
  EXPECT_THAT(RunExport(out, "TELEMETRY_EXPORT_DB=" + folder.File("a.db")).output, HasSubstr("a.db"));
  ProgramOutcome outcome = RunExport(out, "TELEMETRY_EXPORT_DB=a TELEMETRY_EXPORT_COLLECTOR=b:1");
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_THAT(outcome.output, HasSubstr("TELEMETRY_EXPORT_COLLECTOR"));
}

}  // namespace
}  // namespace telemetry::exporter
