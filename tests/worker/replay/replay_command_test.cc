// Tests `telemetry-worker replay` as a program, on a snapshot with an artificial run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iomanip>
#include <iterator>
#include <sstream>
#include <string>

#include "tests/run_program.h"
#include "tests/temp_folder.h"
#include "tests/worker/replay/stored_runs.h"

namespace telemetry::worker::replay {
namespace {

using ::testing::HasSubstr;

class ReplayCommandTest : public ::testing::Test {
 protected:
  ReplayCommandTest() {
    const StoredRun run = ValleyRun();
    const std::string attempt(32, '1');
    std::ofstream(folder_.File("data.runs.jsonl"))
        << R"({"run_id": ")" << run.run_id << R"(", "kernel_name": "valley", "hardware": "H200"})"
        << "\n";
    std::ofstream(folder_.File("data.attempts.jsonl"))
        << R"({"run_id": ")" << run.run_id << R"(", "attempt_id": ")" << attempt << R"(", "state": "complete"})"
        << "\n";
    std::ofstream csv(folder_.File("data.csv"), std::ios::binary);
    csv << "attempt_id,seq,timestamp_s,generation,status,perf_ms,compile_time_s,config_id,config\r\n";
    int seq = 0;
    for (const StoredConfig& stored : run.configs) {
      std::string config = record::ToJson(stored.config.json());
      for (size_t i = 0; (i = config.find('"', i)) != std::string::npos; i += 2) config.insert(i, 1, '"');
      std::ostringstream id;
      id << std::hex << std::setw(16) << std::setfill('0') << stored.config.id();
      csv << attempt << "," << ++seq << ",1.0,0," << (stored.perf_ms ? "ok," : "error,");
      if (stored.perf_ms) csv << *stored.perf_ms;
      csv << ",1," << id.str() << ",\"" << config << "\"\r\n";
    }
  }

  ProgramOutcome Replay(const std::string& arguments) {
    return RunProgram("telemetry-worker", "replay --dataset " + folder_.File("data") + " " + arguments);
  }
  std::string Read(const std::string& name) {
    std::ifstream file(folder_.File(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TempFolder folder_;
};

TEST_F(ReplayCommandTest, PrintsATableAndWritesJson) {
  const std::string flags = "--algorithm surrogate,random --seeds 4 --json " + folder_.File("replay.json");
  const ProgramOutcome outcome = Replay(flags);
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("256 configs, 12 of them failed"));
  EXPECT_THAT(outcome.output, HasSubstr("mean score of 1 run"));
  const std::string json = Read("replay.json");
  EXPECT_THAT(json, HasSubstr("\"algorithm\": \"surrogate\""));
  EXPECT_EQ(Replay(flags).output, outcome.output);
  EXPECT_EQ(Read("replay.json"), json);
}

TEST_F(ReplayCommandTest, ExplainsErrors) {
  EXPECT_EQ(Replay("--algorithm finite").exit_status, 2);
  const ProgramOutcome none = Replay("--kernel other");
  EXPECT_EQ(none.exit_status, 1);
  EXPECT_THAT(none.output, HasSubstr("no run of the dataset has rows and is selected; check --kernel"));
  const ProgramOutcome few = Replay("--min-configs 1000");
  EXPECT_EQ(few.exit_status, 1);
  EXPECT_THAT(few.output, HasSubstr("the dataset has times of 244 configs; 1000 are needed"));
  EXPECT_THAT(few.output, HasSubstr("pass a smaller --min-configs"));
  const ProgramOutcome missing = RunProgram("telemetry-worker", "replay --dataset " + folder_.File("absent"));
  EXPECT_EQ(missing.exit_status, 1);
  EXPECT_THAT(missing.output, HasSubstr("absent.runs.jsonl: cannot be opened"));
  const ProgramOutcome unwritable = Replay("--seeds 1 --algorithm random --json " + folder_.File("no/such/file"));
  EXPECT_EQ(unwritable.exit_status, 1);
  EXPECT_THAT(unwritable.output, HasSubstr("no/such/file: cannot be written"));
}

}  // namespace
}  // namespace telemetry::worker::replay
