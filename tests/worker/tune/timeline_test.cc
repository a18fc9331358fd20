#include "worker/tune/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/temp_folder.h"

namespace telemetry::worker::tune {
namespace {

std::string TextOf(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(TimelineTest, HasALineForEachStep) {
  const TempFolder folder;
  const std::string path = folder.File("timeline.csv");
  std::ofstream(path) << "an older file that is longer than the new one, which must not be left in it";
  const std::unique_ptr<Timeline> timeline = Timeline::Create(path).value();
  const SteadyTime begin = SteadyNow() + std::chrono::seconds(100);
  timeline->Add("inputs", "", begin, begin + std::chrono::milliseconds(1500));
  timeline->Add("load", "Config(a=1, b='x')", begin, begin);
  EXPECT_TRUE(timeline->status().ok());
  EXPECT_THAT(TextOf(path), testing::MatchesRegex("step,config,begin_s,end_s\n"
                                                  "inputs,,100\\.[0-9]+,101\\.[0-9]+\n"
                                                  "load,\"Config\\(a=1, b='x'\\)\",100\\.[0-9]+,100\\.[0-9]+\n"));
}

TEST(TimelineTest, LinesOfThreadsDoNotMix) {
  const TempFolder folder;
  const std::unique_ptr<Timeline> timeline = Timeline::Create(folder.File("timeline.csv")).value();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&timeline] {
      for (int j = 0; j < 500; ++j) timeline->Add("step", "config", SteadyNow(), SteadyNow());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::istringstream lines(TextOf(folder.File("timeline.csv")));
  std::string line;
  int steps = -1;  // the header
  while (std::getline(lines, line)) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 3) << line;
    ++steps;
  }
  EXPECT_EQ(steps, 2000);
}

TEST(TimelineTest, NamesAFileThatCannotBeWritten) {
  const TempFolder folder;
  const absl::Status status = Timeline::Create(folder.File("no folder/timeline.csv")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("no folder/timeline.csv"));
}

}  // namespace
}  // namespace telemetry::worker::tune
