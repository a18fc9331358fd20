// Tests comparisons against values computed by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/server/web/web_sample.h"

namespace telemetry::web::api {
namespace {

using storage::Row;
using storage::RunId;

class CompareTest : public ::testing::Test {
 protected:
  static std::string Items(const std::vector<std::string>& items, const std::string& rest = "") {
    std::string target = "compare?";
    for (const std::string& item : items) absl::StrAppend(&target, "item=", item, "&");
    return target + rest;
  }
  static std::string AttemptItem(char attempt) { return absl::StrCat("attempt:", AttemptHex(attempt)); }

  // Sends a run with a version of the source, and an attempt with a row for each time: configs 1, 2, ...
  void SendRun(char run, char attempt, const std::string& source, const std::string& shapes,
               const std::string& hardware, const std::vector<double>& times) {
    v1::Record record = storage::RunRecord(run);
    record.mutable_run()->set_kernel_source(source);
    record.mutable_run()->set_input_shapes(shapes);
    record.mutable_run()->set_dtypes("[]");
    record.mutable_run()->set_hardware(hardware);
    std::vector<v1::Record> records = {record, storage::AttemptRecord(attempt, run)};
    for (size_t i = 0; i < times.size(); ++i) records.push_back(Row(attempt, i + 1, times[i], i + 1));
    story_.Send(records);
  }

  WebStory story_;
};

TEST_F(CompareTest, ComparesRuns) {
  SendSample(&story_);
  const auto answer = story_.Ask(Items({RunItem('a'), RunItem('b')}));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(At(*answer, "items.0.item"), absl::StrCat("\"", RunItem('a'), "\""));
  EXPECT_EQ(At(*answer, "items.0.kind"), "\"run\"");
  EXPECT_EQ(At(*answer, "items.0.label"), "\"softmax [(4096, 2560)], NVIDIA H200, aaaaaaaa\"");
  EXPECT_EQ(At(*answer, "items.0.runs"), "1");
  EXPECT_EQ(At(*answer, "items.0.attempts"), "2");
  EXPECT_EQ(At(*answer, "items.0.rows"), "10");
  EXPECT_EQ(At(*answer, "items.0.best_ms"), "0.9");
  EXPECT_EQ(At(*answer, "items.0.best_config"), "\"Config(num_warps=8, sizes=[16, 32])\"");
  EXPECT_EQ(At(*answer, "items.0.default_ms"), "1.8");
  EXPECT_EQ(At(*answer, "items.1.best_config_id"), "\"0000000000000001\"");
  EXPECT_EQ(At(*answer, "pairs.0.other"), "1");
  // One attempt of b, without samples.
  EXPECT_NEAR(std::stod(At(*answer, "pairs.0.best.ratio")), 4 / 0.9, 1e-12);
  EXPECT_EQ(At(*answer, "pairs.0.best.basis"), "\"none\"");
  EXPECT_EQ(At(*answer, "pairs.0.best.low"), "null");
  EXPECT_EQ(At(*answer, "pairs.0.best.significant"), "null");
  EXPECT_NEAR(std::stod(At(*answer, "pairs.0.default.ratio")), 4 / 1.8, 1e-12);
  // Config 1: 2.0, the median of 1.8 and 2.2, and 4; config 2: 1.0, the median of 0.9 and 1.1, and 6.
  EXPECT_NEAR(std::stod(At(*answer, "pairs.0.common.ratio")), std::sqrt(2.0 * 6.0), 1e-9);
  EXPECT_EQ(At(*answer, "pairs.0.common.count"), "2");
  EXPECT_EQ(At(*answer, "pairs.0.common.basis"), "\"configs\"");
  EXPECT_EQ(At(*answer, "shapes"), "[]");
  EXPECT_EQ(At(*answer, "common_configs"), "2");
  EXPECT_EQ(At(*answer, "configs_left_out"), "0");
  EXPECT_EQ(At(*answer, "configs.0.config_id"), "\"0000000000000002\"");
  EXPECT_EQ(At(*answer, "configs.0.rank"), "[1, 2]");
  EXPECT_EQ(At(*answer, "configs.0.rank_change"), "1");
  EXPECT_EQ(At(*answer, "configs.1.rank"), "[2, 1]");
  EXPECT_EQ(story_.Value(Items({RunItem('a'), RunItem('b')}, "limit=1"), "configs_left_out"), "1");
  EXPECT_THAT(story_.Csv(Items({RunItem('a'), RunItem('b')})),
              testing::HasSubstr(absl::StrCat("0000000000000002,\"Config(num_warps=8, sizes=[16, 32])\",", RunItem('b'),
                                              ",6,2,1\r\n")));
}

TEST_F(CompareTest, UsesTheSamplesOfTheBestRows) {
  for (const char attempt : {'A', 'B'}) {
    std::vector<v1::Record> records = {storage::AttemptRecord(attempt, 'a'),
                                       Row(attempt, 1, attempt == 'A' ? 1 : 1.2, 1)};
    v1::Record detail;
    detail.mutable_measurement_detail()->set_attempt_id(storage::AttemptId(attempt));
    detail.mutable_measurement_detail()->set_seq(1);
    for (const double factor : {0.99, 1.0, 1.01}) {
      detail.mutable_measurement_detail()->add_samples_ms(factor * (attempt == 'A' ? 1 : 1.2));
    }
    records.push_back(detail);
    story_.Send(records);
  }
  story_.Refresh();
  const auto answer = story_.Ask(Items({AttemptItem('A'), AttemptItem('B')}));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(At(*answer, "items.0.label"), "\"41414141\"");
  EXPECT_NEAR(std::stod(At(*answer, "pairs.0.best.ratio")), 1.2, 1e-12);
  EXPECT_EQ(At(*answer, "pairs.0.best.basis"), "\"samples\"");
  EXPECT_EQ(At(*answer, "pairs.0.best.count"), "3");
  EXPECT_EQ(At(*answer, "pairs.0.best.significant"), "true");
  EXPECT_LT(std::stod(At(*answer, "pairs.0.best.low")), 1.2);
}

TEST_F(CompareTest, UsesTheBestTimesOfThreeAttempts) {
  for (int i = 0; i < 3; ++i) {
    const char first = static_cast<char>('A' + i);
    const char second = static_cast<char>('a' + i);
    story_.Send({storage::AttemptRecord(first, 'a'), Row(first, 1, 1 + 0.01 * i), storage::AttemptRecord(second, 'b'),
                 Row(second, 1, 2 + 0.01 * i)});
  }
  story_.Refresh();
  const auto answer = story_.Ask(Items({RunItem('a'), RunItem('b')}));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_NEAR(std::stod(At(*answer, "pairs.0.best.ratio")), 2.01 / 1.01, 1e-12);
  EXPECT_EQ(At(*answer, "pairs.0.best.basis"), "\"attempts\"");
  EXPECT_EQ(At(*answer, "pairs.0.best.count"), "3");
  EXPECT_EQ(At(*answer, "pairs.0.default.basis"), "\"attempts\"");
}

// The summaries may know the attempts in any order: a restart begins with the newest.
TEST_F(CompareTest, OrdersShapesByTheirLabels) {
  SendRun('1', 'A', "v1", "[2]", "H200", {2});
  SendRun('2', 'B', "v1", "[2]", "A100", {2});
  story_.Refresh();
  SendRun('3', 'C', "v1", "[1]", "H200", {1});
  SendRun('4', 'D', "v1", "[1]", "A100", {1});
  story_.Refresh();
  const auto answer = story_.Ask(Items({"device:H200", "device:A100"}, "kernel=softmax"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(At(*answer, "shapes.0.shapes.label"), "\"[1]\"");
  EXPECT_EQ(At(*answer, "shapes.0.best_ms"), "[1, 1]");
  EXPECT_EQ(At(*answer, "shapes.1.shapes.label"), "\"[2]\"");
  EXPECT_EQ(At(*answer, "shapes.1.best_ms"), "[2, 2]");
}

TEST_F(CompareTest, ComparesDevicesOverTheirCommonShapes) {
  SendRun('1', 'A', "v1", "[1]", "H200", {2, 1});
  SendRun('2', 'B', "v1", "[2]", "H200", {4, 2});
  SendRun('3', 'C', "v1", "[3]", "H200", {9});
  SendRun('4', 'D', "v1", "[1]", "A100", {3, 2});
  SendRun('5', 'E', "v1", "[2]", "A100", {9, 8});
  story_.Refresh();
  const std::vector<std::string> devices = {"device:H200", "device:A100"};
  const auto answer = story_.Ask(Items(devices, "kernel=softmax"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(At(*answer, "items.0.label"), "\"H200\"");
  EXPECT_EQ(At(*answer, "items.0.runs"), "2");
  EXPECT_EQ(At(*answer, "items.0.best_ms"), "null");
  EXPECT_EQ(At(*answer, "pairs.0.best.basis"), "\"shapes\"");
  EXPECT_NEAR(std::stod(At(*answer, "pairs.0.best.ratio")), std::sqrt(2.0 * 4.0), 1e-12);
  EXPECT_NEAR(std::stod(At(*answer, "pairs.0.default.ratio")), std::sqrt(1.5 * 2.25), 1e-12);
  EXPECT_EQ(At(*answer, "pairs.0.common.ratio"), "null");
  EXPECT_EQ(At(*answer, "shapes.0.shapes.label"), "\"[1]\"");
  EXPECT_EQ(At(*answer, "shapes.0.best_ms"), "[1, 2]");
  EXPECT_EQ(At(*answer, "shapes.0.default_ms"), "[2, 3]");
  EXPECT_EQ(At(*answer, "shapes.0.run_ids.1"), absl::StrCat("\"", RunId('4'), "\""));
  EXPECT_EQ(At(*answer, "shapes.1.best_ms"), "[2, 8]");
  EXPECT_EQ(At(*answer, "shapes.2"), "(none)");
  EXPECT_EQ(At(*answer, "configs"), "[]");
  // With one shape, the configs are compared too.
  const auto one = story_.Ask(Items(devices, "kernel=softmax&shapes=[1]"));
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(At(*one, "items.1.best_ms"), "2");
  EXPECT_EQ(At(*one, "pairs.0.common.count"), "2");
  EXPECT_EQ(At(*one, "configs.0.perf_ms"), "[1, 2]");
  // No shape in common.
  const auto none = story_.Ask(Items(devices, "kernel=softmax&shapes=[3]"));
  EXPECT_EQ(none.status().code(), absl::StatusCode::kNotFound) << none.status();
}

TEST_F(CompareTest, ComparesVersionsOnEachDevice) {
  SendRun('1', 'A', "v1", "[1]", "H200", {2});
  SendRun('2', 'B', "v1", "[1]", "A100", {4});
  SendRun('3', 'C', "v2", "[1]", "H200", {1});
  SendRun('4', 'D', "v2", "[1]", "L40", {0.1});
  story_.Refresh();
  const auto version = [&](char run) {
    const std::string text = story_.Value(absl::StrCat("runs/", RunId(run)), "version");
    return absl::StrCat("version:", text.substr(1, 16));
  };
  const auto answer = story_.Ask(Items({version('1'), version('3')}, "kernel=softmax"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(At(*answer, "shapes.0.hardware.label"), "\"H200\"");
  EXPECT_EQ(At(*answer, "shapes.1"), "(none)");
  EXPECT_EQ(At(*answer, "pairs.0.best.ratio"), "0.5");
  EXPECT_EQ(At(*answer, "items.1.best_ms"), "1");
}

TEST_F(CompareTest, RefusesWrongItems) {
  SendSample(&story_);
  const auto code = [&](const std::vector<std::string>& items, const std::string& rest = "") {
    return story_.Code(Items(items, rest));
  };
  constexpr auto kWrong = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code({}), kWrong);
  EXPECT_EQ(code({RunItem('a')}), kWrong);
  EXPECT_EQ(code(std::vector<std::string>(9, RunItem('a'))), kWrong);
  EXPECT_EQ(code(std::vector<std::string>(8, RunItem('a'))), absl::StatusCode::kOk);
  EXPECT_EQ(code({RunItem('a'), "run:x"}), kWrong);
  EXPECT_EQ(code({RunItem('a'), "attempt:' OR 1=1"}), kWrong);
  EXPECT_EQ(code({RunItem('a'), "other:x"}), kWrong);
  EXPECT_EQ(code({RunItem('a'), "x"}), kWrong);
  EXPECT_EQ(code({"device:NVIDIA+H200", "device:NVIDIA+A100"}), kWrong);  // no kernel
  EXPECT_EQ(code({RunItem('a'), "device:NVIDIA+A100"}, "kernel=softmax"), kWrong);
  EXPECT_EQ(code({"device:NVIDIA+H200", "device:NVIDIA+A100"}, "kernel=softmax&limit=0"), kWrong);
  EXPECT_EQ(code({"device:NVIDIA+H200", "device:NVIDIA+A100"}, "kernel=softmax"), absl::StatusCode::kOk);
  EXPECT_EQ(code({RunItem('a'), AttemptItem('C')}), absl::StatusCode::kOk);
  EXPECT_EQ(code({RunItem('a'), RunItem('f')}), absl::StatusCode::kNotFound);
  EXPECT_EQ(code({"device:NVIDIA+H200", "device:none"}, "kernel=softmax"), absl::StatusCode::kNotFound);
  EXPECT_EQ(code({"version:0000000000000000", "version:'"}, "kernel=softmax"), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace telemetry::web::api
