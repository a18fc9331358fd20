#include "proto/record/sidecar/trace_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/proto/record/sidecar/testdata.h"

namespace telemetry::record::sidecar {
namespace {

using ::testing::HasSubstr;

constexpr char kStart[] = R"({"schema_version": 1, "run_id": "abc", "event": ")";

std::string Error(const std::string& text) { return std::string(ParseTraceLine(text).status().message()); }

// Returns the line of a trial with these members instead of, or after, the usual ones.
TraceLine Trial(const std::string& members, const std::string& event = "trial") {
  const absl::StatusOr<TraceLine> line = ParseTraceLine(absl::StrCat(kStart, event, "\", ", members, "}"));
  EXPECT_TRUE(line.ok()) << line.status();
  return line.value_or(TraceLine());
}

TEST(TraceLine, EveryLineOfTheSampleIsRead) {
  const std::vector<std::string> samples = SampleFiles(".trace.jsonl");
  ASSERT_EQ(samples.size(), 1u);
  int trials = 0;
  for (const std::string& text : SplitLines(ReadFile(samples.front()))) {
    const absl::StatusOr<TraceLine> line = ParseTraceLine(text);
    ASSERT_TRUE(line.ok()) << line.status();
    EXPECT_EQ(line->algorithm, "LFBOTreeSearch");
    EXPECT_EQ(line->run_id.size(), 32u);
    EXPECT_GT(line->timestamp_s.value_or(0), 1.79e9);
    EXPECT_GT(line->elapsed_s.value_or(0), 0);
    EXPECT_EQ(line->trial.has_value(), line->event == "trial" || line->event == "trial_start");
    EXPECT_EQ(line->end_status.empty(), line->event != "run_end");
    if (line->trial.has_value()) ++trials;
  }
  EXPECT_EQ(trials, 66);
}

TEST(TraceLine, ATrialHasItsNumbersWithAllDigits) {
  const TraceLine line =
      Trial(R"("timestamp_s": 1.5e9, "elapsed_s": 2, "config_id": "44136fa355b3678a", "config": {}, "generation": 3, )"
            R"("status": "ok", "perf_ms": 0.03014400042593479, "compile_time_s": null)");
  ASSERT_TRUE(line.trial.has_value());
  EXPECT_EQ(line.trial->config_id, 0x44136fa355b3678aULL);
  EXPECT_EQ(line.trial->generation, 3);
  EXPECT_EQ(line.trial->status, "ok");
  EXPECT_EQ(line.trial->perf_ms, 0.03014400042593479);
  EXPECT_EQ(line.trial->compile_time_s, std::nullopt);
  EXPECT_EQ(line.timestamp_s, 1.5e9);
  EXPECT_EQ(line.elapsed_s, 2);
}

TEST(TraceLine, MembersOfUnexpectedTypesAreNotInterpreted) {
  const std::string id = R"("config_id": "44136fa355b3678a", )";
  for (const std::string& members :
       {std::string(R"("generation": 0, "status": "ok")"), id + R"("generation": 0.5, "status": "ok")",
        id + R"("generation": "0", "status": "ok")", id + R"("generation": 0, "status": null)",
        id + R"("generation": 0, "status": "")", id + R"("generation": 0, "status": "a\u0000")",
        id + R"("generation": 0, "status": "ok", "perf_ms": "fast")",
        id + R"("generation": 0, "status": "ok", "perf_ms": NaN)",
        id + R"("generation": 99999999999999999999, "status": "ok")",
        std::string(R"("config_id": "0000000000000000", "generation": 0, "status": "ok")")}) {
    EXPECT_FALSE(Trial(members).trial.has_value()) << members;
  }
  EXPECT_TRUE(Trial(id + R"("generation": 0, "status": "ok")").trial.has_value());
}

TEST(TraceLine, OnlyTheConfigThatBelongsToItsIdIsTaken) {
  const std::string rest = R"(, "generation": 0, "status": "ok")";
  EXPECT_TRUE(Trial(R"("config_id": "44136fa355b3678a", "config": {})" + rest, "rebenchmark").config.has_value());
  EXPECT_FALSE(Trial(R"("config_id": "44136fa355b3678b", "config": {})" + rest, "rebenchmark").config.has_value());
  EXPECT_FALSE(Trial(R"("config_id": "44136fa355b3678a", "config": [])" + rest, "rebenchmark").config.has_value());
}

TEST(TraceLine, ANewerVersionIsNotInterpreted) {
  const absl::StatusOr<TraceLine> line =
      ParseTraceLine(R"({"schema_version": 2, "run_id": "abc", "event": "trial", "config_id": "44136fa355b3678a", )"
                     R"("generation": 0, "status": "ok"})");
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->event, "trial");
  EXPECT_FALSE(line->trial.has_value());
}

TEST(TraceLine, WhatIsNoLineIsAnError) {
  EXPECT_THAT(Error(""), HasSubstr(""));
  EXPECT_THAT(Error("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(Error("{}"), HasSubstr("run_id: missing"));
  EXPECT_THAT(Error(R"({"run_id": "a"})"), HasSubstr("event: missing"));
  EXPECT_THAT(Error(R"({"run_id": 1, "event": "x"})"), HasSubstr("run_id: not a string"));
  EXPECT_THAT(Error(R"({"run_id": "a", "event": ""})"), HasSubstr("event: not between"));
  EXPECT_THAT(Error(R"({"run_id": "a\u0000", "event": "x"})"), HasSubstr("run_id: holds a NUL"));
  EXPECT_THAT(Error(R"({"run_id": "a", "event": ")" + std::string(257, 'x') + "\"}"), HasSubstr("event: not between"));
  EXPECT_FALSE(ParseTraceLine(std::string(kMostTraceLineBytes + 1, ' ')).ok());
  EXPECT_FALSE(ParseTraceLine(std::string(100000, '[')).ok());
  EXPECT_FALSE(
      ParseTraceLine(absl::StrCat(kStart, "x\", \"a\": ", std::string(300, '['), std::string(300, ']'), "}")).ok());
  EXPECT_FALSE(ParseTraceLine(absl::StrCat(kStart, "x\xff\"}")).ok());
}

TEST(TraceLine, HalvesOfSurrogatePairsAreNoError) {
  for (const char* text :
       {R"(\ud83d)", R"(\ude00)", R"(\ud83d\ud83d\ude00)", R"(\\\ud83d)", R"(\ud83dx)", R"(\ude00\ud83d)"}) {
    EXPECT_TRUE(ParseTraceLine(absl::StrCat(kStart, "llm_response\", \"text\": \"", text, "\"}")).ok()) << text;
  }
  EXPECT_FALSE(ParseTraceLine(absl::StrCat(kStart, "x\", \"text\": \"\\ud83\"}")).ok());
}

}  // namespace
}  // namespace telemetry::record::sidecar
