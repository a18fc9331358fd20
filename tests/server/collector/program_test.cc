// The command line of telemetry-collector: what it refuses, and with which words.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/run_program.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::collector {
namespace {

using ::testing::HasSubstr;

ProgramOutcome RunCollector(const std::string& arguments, const std::string& environment = "") {
  return RunProgram("telemetry-collector", arguments, environment);
}

class ProgramTest : public ::testing::Test {
 protected:
  void ExpectWrongUsage(const std::string& arguments, const std::string& words, const std::string& environment = "") {
    const ProgramOutcome outcome = RunCollector(arguments, environment);
    EXPECT_EQ(outcome.exit_status, 2) << arguments << "\n" << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(words)) << arguments;
  }
  std::string ConfigFile(const std::string& content) {
    std::ofstream(folder_.File("collector.toml"), std::ios::binary) << content;
    return folder_.File("collector.toml");
  }

  storage::TempFolder folder_;
  const std::string serve_ = "serve --db " + folder_.File("dataset.db");
};

TEST_F(ProgramTest, WhatCannotBeListenedOnIsWrongUsage) {
  for (const char* address : {"127.0.0.1:99999", "127.0.0.1", "127.0.0.1:", "''", "unix:/p"}) {
    ExpectWrongUsage(serve_ + " --listen " + address, "HOST:PORT");
  }
}

TEST_F(ProgramTest, LimitsBelowAClientsLargestRecordAreWrongUsage) {
  ExpectWrongUsage(serve_ + " --max-batch-bytes 4096", "8388608");
  ExpectWrongUsage(serve_ + " --window-bytes 8388607", "8388608");
  ExpectWrongUsage(serve_ + " --window-bytes 2000000000", "1073741824");
}

TEST_F(ProgramTest, EmptyPathsAreWrongUsage) {
  ExpectWrongUsage("serve --db ''", "--db");
  ExpectWrongUsage("check --db ''", "--db");
  ExpectWrongUsage("backup --db x --to ''", "--to");
}

TEST_F(ProgramTest, AMistypedWordIsNamed) {
  ExpectWrongUsage("srve --db x", "srve");
  ExpectWrongUsage("check --bd x", "--bd");
  ExpectWrongUsage(serve_ + " --lisen 127.0.0.1:0", "--lisen");
  ExpectWrongUsage("", "subcommand");
}

TEST_F(ProgramTest, AMistypedKeyInTheConfigFileIsNamed) {
  ExpectWrongUsage(serve_ + " --config " + ConfigFile("serve.lisen = \"127.0.0.1:0\"\n"), "lisen");
  ExpectWrongUsage(serve_ + " --config " + ConfigFile("log-level = \"debug\"\n"), "log-level");
  ExpectWrongUsage(serve_ + " --config " +
                       ConfigFile(std::string("\x7f"
                                              "ELF\x02\x01\0\0\xff\xfe\n",
                                              11)),
                   "ELF");
}

TEST_F(ProgramTest, TheConfigFileComesFromTheFlagOrTheEnvironment) {
  const std::string config = ConfigFile("serve.listen = \"nonsense\"\n");
  ExpectWrongUsage(serve_ + " --config " + config, "nonsense");
  ExpectWrongUsage(serve_, "nonsense", "TELEMETRY_COLLECTOR_CONFIG=" + config);
  ExpectWrongUsage(serve_, "missing.toml", "TELEMETRY_COLLECTOR_CONFIG=" + folder_.File("missing.toml"));
}

TEST_F(ProgramTest, AnEmptyVariableIsNone) {
  const ProgramOutcome outcome = RunCollector("--version", "TELEMETRY_COLLECTOR_CONFIG=");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
}

}  // namespace
}  // namespace telemetry::collector
