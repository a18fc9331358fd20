// The command line of telemetry-collector: what it refuses, and with which words.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/server/storage/dataset_story.h"

namespace telemetry::collector {
namespace {

using ::testing::HasSubstr;

struct Outcome {
  int exit_status = -1;
  std::string output;  // stdout and stderr
};

// A collector that takes the arguments serves until the time is up.
Outcome RunCollector(const std::string& arguments, const std::string& environment = "") {
  const std::string command =
      "env " + environment + " timeout 10 " TELEMETRY_BIN_DIR "/telemetry-collector " + arguments + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  Outcome outcome;
  std::array<char, 4096> buffer;
  while (size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) outcome.output.append(buffer.data(), size);
  const int status = pclose(pipe);
  outcome.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

class ProgramTest : public ::testing::Test {
 protected:
  void ExpectWrongUsage(const std::string& arguments, const std::string& words, const std::string& environment = "") {
    const Outcome outcome = RunCollector(arguments, environment);
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
  const Outcome outcome = RunCollector("--version", "TELEMETRY_COLLECTOR_CONFIG=");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
}

}  // namespace
}  // namespace telemetry::collector
