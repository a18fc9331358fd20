#include "worker/tune/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "proto/record/ids.h"

namespace telemetry::worker::tune {
namespace {

MeasureOutcome Failed(const MeasureFailure& failure) {
  MeasureOutcome outcome;
  outcome.failure = failure;
  return outcome;
}

TEST(VerdictTest, WhatDoesNotFitTheDeviceIsFilteredAndTheRestIsAnError) {
  const Verdict too_large = NotGenerated(absl::ResourceExhaustedError("needs 300000 bytes"));
  EXPECT_EQ(too_large.status, "filtered");
  EXPECT_EQ(too_large.failure->phase(), "generate");
  EXPECT_EQ(too_large.failure->error_class(), "OutOfResources");
  const Verdict unknown = NotGenerated(absl::UnimplementedError("node 3"));
  EXPECT_EQ(unknown.status, "error");
  EXPECT_EQ(unknown.failure->error_class(), "Unimplemented");
  EXPECT_EQ(unknown.failure->code(), "UNIMPLEMENTED");
}

TEST(VerdictTest, CompilersFailInThreeWays) {
  const auto compiled = [](absl::Status status) { return NotCompiled({.code = std::move(status), .seconds = 2}); };
  const Verdict refused = compiled(absl::InvalidArgumentError("line 3: expected ;"));
  EXPECT_EQ(refused.status, "error");
  EXPECT_EQ(refused.compile_time_s, 2);
  EXPECT_EQ(refused.failure->log_sha256(), record::Sha256("line 3: expected ;"));
  EXPECT_EQ(compiled(absl::DeadlineExceededError("60s")).status, "timeout");
  EXPECT_EQ(compiled(absl::InternalError("SIGSEGV")).status, "peer_compilation_fail");
}

TEST(VerdictTest, AHangIsATimeout) {
  EXPECT_EQ(Measured(Failed({"run", "Hang", "DEADLINE_EXCEEDED", "5 s"}), v1::MeasurementDetail::STAGE_SEARCH).status,
            "timeout");
  const Verdict crash =
      Measured(Failed({"run", "Crash", "SIGSEGV", "ended", "the log"}), v1::MeasurementDetail::STAGE_SEARCH);
  EXPECT_EQ(crash.status, "error");
  EXPECT_EQ(crash.failure->code(), "SIGSEGV");
  EXPECT_EQ(crash.failure->log_sha256(), record::Sha256("the log"));
  EXPECT_FALSE(crash.perf_ms.has_value());
}

TEST(VerdictTest, AConfigThatWasGivenUpHasItsRoughTime) {
  MeasureOutcome outcome;
  outcome.gave_up = true;
  outcome.samples_ms = {3, 1, 2};
  const Verdict verdict = Measured(outcome, v1::MeasurementDetail::STAGE_SEARCH);
  EXPECT_EQ(verdict.status, "ok");
  EXPECT_EQ(verdict.perf_ms, 2);
  EXPECT_EQ(verdict.detail->stage(), v1::MeasurementDetail::STAGE_SCREENING);
}

TEST(VerdictTest, KeepsWhatIsKnownOfTheCode) {
  MeasureOutcome outcome;
  outcome.perf_ms = 0.5;
  outcome.samples_ms = {0.5, 0.6};
  outcome.attributes = {
      .registers = 40, .spill_bytes = 8, .shared_bytes = 1024, .binary_bytes = 9000, .occupancy = 0.5};
  outcome.check = CheckResult{.worst_absolute = 1e-3, .worst_relative = 1e-2};
  const Verdict verdict = Measured(outcome, v1::MeasurementDetail::STAGE_SEARCH);
  EXPECT_EQ(verdict.perf_ms, 0.5);
  EXPECT_EQ(verdict.detail->samples_ms_size(), 2);
  EXPECT_EQ(verdict.detail->registers(), 40u);
  EXPECT_EQ(verdict.detail->spill_bytes(), 8u);
  EXPECT_EQ(verdict.detail->shared_bytes(), 1024u);
  EXPECT_EQ(verdict.detail->binary_bytes(), 9000u);
  EXPECT_EQ(verdict.detail->occupancy(), 0.5);
  EXPECT_EQ(verdict.detail->worst_absolute_error(), 1e-3);
}

TEST(VerdictTest, ALongLogIsCutAtACharacter) {
  std::string log(1999, 'x');
  for (int i = 0; i < 100; ++i) log += "\u00e9";
  const Verdict verdict = NotCompiled({.code = absl::InvalidArgumentError(log)});
  EXPECT_EQ(verdict.failure->message(), std::string(1999, 'x') + "...");
  EXPECT_EQ(verdict.failure->log_sha256(), record::Sha256(log));
}

}  // namespace
}  // namespace telemetry::worker::tune
