#include "proto/record/sidecar/measurement_line.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/record/identity.h"
#include "proto/record/ids.h"

namespace telemetry::record::sidecar {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kAttempt[] =
    R"({"kind": "attempt", "version": 1, "attempt_id": "00112233445566778899aabbccddeeff", "tuner": "mine",)"
    R"( "kernel_name": "k", "kernel_source": "def k(): ...", "settings": {"b": 1, "a": 2}, "input_shapes": "[(4,)]",)"
    R"( "dtypes": "['float32']", "hardware": "CPU", "origin": "ci/1", "started_unix_us": 5, "seed": 7,)"
    R"( "search_algorithm": "random", "environment": {"host": "h"}, "unknown": 1})";
constexpr char kMeasurement[] =
    R"({"kind": "measurement", "attempt_id": "00112233445566778899aabbccddeeff", "seq": 3, "timestamp_s": 0.5,)"
    R"( "generation": 2, "status": "ok", "config": {"n": 4, "m": {"y": 1, "x": 2}}, "perf_ms": 0.25,)"
    R"( "compile_time_s": 1.5, "samples_ms": [0.25, 0.5], "stage": "final", "registers": 32})";

absl::StatusOr<MeasurementsLine> Parse(std::string_view text) { return ParseMeasurementsLine(*ParseJson(text)); }

// Returns the error of a line that is `text` with the first `from` replaced.
std::string ErrorWith(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos);
  return std::string(Parse(text.replace(at, from.size(), to)).status().message());
}

TEST(MeasurementLine, AnAttemptHasARunWithTheIdOfItsContent) {
  const absl::StatusOr<MeasurementsLine> line = Parse(kAttempt);
  ASSERT_TRUE(line.ok()) << line.status();
  const auto& [run, attempt] = std::get<AttemptLine>(*line);
  EXPECT_EQ(CheckRunId(run).verdict, IdentityCheck::kTrue);
  EXPECT_EQ(run.extra_json(), R"({"tuner": "mine"})");
  EXPECT_EQ(run.settings_json(), R"({"b": 1, "a": 2})");
  EXPECT_EQ(attempt.run_id(), run.run_id());
  EXPECT_EQ(attempt.attempt_id(), *HexDecode("00112233445566778899aabbccddeeff"));
  EXPECT_EQ(attempt.state(), v1::Attempt::STATE_OPEN);
  EXPECT_EQ(attempt.origin(), "ci/1");
  EXPECT_EQ(attempt.seed(), 7);
  EXPECT_EQ(attempt.environment_json(), R"({"host": "h"})");
}

TEST(MeasurementLine, AMeasurementHasItsConfigAndItsDetails) {
  const absl::StatusOr<MeasurementsLine> line = Parse(kMeasurement);
  ASSERT_TRUE(line.ok()) << line.status();
  const auto& read = std::get<MeasurementLine>(*line);
  EXPECT_EQ(read.config.text(), "Config(m={'x': 2, 'y': 1}, n=4)");
  EXPECT_EQ(CheckConfigId(read.config.config_id(), read.config.text()).verdict, IdentityCheck::kTrue);
  EXPECT_EQ(read.measurement.seq(), 3U);
  EXPECT_EQ(read.measurement.perf_ms(), 0.25);
  EXPECT_EQ(read.measurement.config_id(), read.config.config_id());
  ASSERT_TRUE(read.detail.has_value());
  EXPECT_THAT(read.detail->samples_ms(), ElementsAre(0.25, 0.5));
  EXPECT_EQ(read.detail->stage(), v1::MeasurementDetail::STAGE_FINAL);
  EXPECT_EQ(read.detail->registers(), 32U);
}

TEST(MeasurementLine, ALineWithoutDetailsHasNone) {
  const auto line = Parse(
      R"({"kind": "measurement", "attempt_id": "00112233445566778899aabbccddeeff", "seq": 1, "status": "timeout",)"
      R"( "config": {}})");
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_FALSE(std::get<MeasurementLine>(*line).detail.has_value());
  EXPECT_FALSE(std::get<MeasurementLine>(*line).measurement.has_perf_ms());
}

TEST(MeasurementLine, AnEventIsTheLine) {
  const std::string text =
      R"({"kind": "event", "attempt_id": "00112233445566778899aabbccddeeff", "seq": 2, "name": "selected",)"
      R"( "time_unix_us": 7, "values": {"b": 1.5, "a": [null]}})";
  const absl::StatusOr<MeasurementsLine> line = Parse(text);
  ASSERT_TRUE(line.ok()) << line.status();
  const auto& read = std::get<EventLine>(*line);
  EXPECT_EQ(read.seq, 2U);
  EXPECT_EQ(read.name, "selected");
  EXPECT_EQ(read.time_unix_us, 7);
  EXPECT_EQ(read.text, text);
  EXPECT_THAT(ErrorWith(text, R"({"b": 1.5, "a": [null]})", "1"), HasSubstr("values"));
}

TEST(MeasurementLine, AnErrorNamesTheKey) {
  EXPECT_THAT(ErrorWith(kAttempt, R"("tuner": "mine")", R"("tuner": "")"), HasSubstr("tuner"));
  EXPECT_THAT(ErrorWith(kAttempt, "00112233", "0011223"), HasSubstr("attempt_id"));
  EXPECT_THAT(ErrorWith(kAttempt, R"({"host": "h"})", "[]"), HasSubstr("environment"));
  EXPECT_THAT(ErrorWith(kMeasurement, R"("seq": 3)", R"("seq": 0)"), HasSubstr("seq"));
  EXPECT_THAT(ErrorWith(kMeasurement, "0.25, \"compile", "NaN, \"compile"), HasSubstr("perf_ms"));
  EXPECT_THAT(ErrorWith(kMeasurement, "[0.25, 0.5]", "[0.25, -1]"), HasSubstr("samples_ms"));
  EXPECT_THAT(ErrorWith(kMeasurement, "final", "last"), HasSubstr("stage"));
  EXPECT_THAT(ErrorWith(kMeasurement, R"({"n": 4, "m": {"y": 1, "x": 2}})", "4"), HasSubstr("config"));
}

TEST(MeasurementLine, ANewerVersionOrKindIsTold) {
  for (const std::string text : {R"({"kind": "attempt", "version": 2})", R"({"kind": "novelty"})"}) {
    EXPECT_EQ(Parse(text).status().code(), absl::StatusCode::kFailedPrecondition) << text;
  }
  EXPECT_EQ(Parse("[]").status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace telemetry::record::sidecar
