#include "worker/repro/repro_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace telemetry::worker::repro {
namespace {

tune::TaskResult ResultOf(std::vector<uint64_t> failed_runs) {
  tune::TaskResult result;
  result.run.set_run_id("3f09c1");
  result.tuned.failed_runs = std::move(failed_runs);
  return result;
}

TEST(ReproCommandsTest, NameTheRunTheConfigAndTheCollector) {
  EXPECT_EQ(ReproCommands(ResultOf({0x0123456789abcdef}), "collector", ""),
            "1 config crashed, ran too long or gave wrong results. To repeat in a program of its own:\n"
            "  telemetry-worker repro 3f09c1 --config-id 0123456789abcdef --collector collector\n");
}

TEST(ReproCommandsTest, QuoteWordsForTheShell) {
  EXPECT_THAT(ReproCommands(ResultOf({1}), "[::1]:4747", "it's.json"),
              testing::HasSubstr(" --spec 'it'\\''s.json' --collector '[::1]:4747'\n"));
}

TEST(ReproCommandsTest, AreThreeAtMost) {
  const std::string text = ReproCommands(ResultOf({1, 2, 3, 4}), "collector", "");
  EXPECT_THAT(text,
              testing::HasSubstr("4 configs crashed, ran too long or gave wrong results. To repeat the first of "));
  EXPECT_THAT(text, testing::HasSubstr("0000000000000003"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("0000000000000004")));
}

TEST(ReproCommandsTest, NeedAFailureAndACollector) {
  EXPECT_EQ(ReproCommands(ResultOf({}), "collector", ""), "");
  EXPECT_EQ(ReproCommands(ResultOf({1}), "", ""), "");
}

}  // namespace
}  // namespace telemetry::worker::repro
