#include "worker/tune/row_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "tests/worker/compiler.h"

namespace telemetry::worker::tune {
namespace {

using recording::AttemptRow;

AttemptRow NotGenerated(const absl::Status& status) {
  AttemptRow row;
  SetNotGenerated(status, &row);
  return row;
}

AttemptRow NotCompiled(const compile::CompileResult& result) {
  AttemptRow row;
  SetNotCompiled(result, &row);
  return row;
}

AttemptRow Measured(const measure::wire::Outcome& outcome) {
  AttemptRow row;
  SetMeasured(outcome, v1::MeasurementDetail::STAGE_SEARCH, &row);
  return row;
}

AttemptRow Failed(const char* phase, const char* error_class, const char* code, const char* log) {
  measure::wire::Outcome outcome;
  outcome.mutable_failure()->set_phase(phase);
  outcome.mutable_failure()->set_error_class(error_class);
  outcome.mutable_failure()->set_code(code);
  outcome.mutable_failure()->set_log(log);
  return Measured(outcome);
}

TEST(RowResultTest, WhatDoesNotFitTheDeviceIsFilteredAndTheRestIsAnError) {
  const AttemptRow too_large = NotGenerated(absl::ResourceExhaustedError("needs 300000 bytes"));
  EXPECT_EQ(too_large.status, "filtered");
  EXPECT_EQ(too_large.failure->phase(), "generate");
  EXPECT_EQ(too_large.failure->error_class(), "OutOfResources");
  const AttemptRow unknown = NotGenerated(absl::UnimplementedError("node 3"));
  EXPECT_EQ(unknown.status, "error");
  EXPECT_EQ(unknown.failure->error_class(), "Unimplemented");
  EXPECT_EQ(unknown.failure->code(), "UNIMPLEMENTED");
}

TEST(RowResultTest, CompilersFailInFourWays) {
  const auto compiled = [](absl::Status status) { return NotCompiled({.code = std::move(status), .seconds = 2}); };
  const AttemptRow refused = compiled(absl::InvalidArgumentError("line 3: expected ;"));
  EXPECT_EQ(refused.status, "error");
  EXPECT_EQ(refused.compile_time_s, 2);
  EXPECT_EQ(refused.failure->log_sha256(), record::Sha256("line 3: expected ;"));
  EXPECT_EQ(compiled(absl::DeadlineExceededError("60s")).status, "timeout");
  const AttemptRow greedy = compiled(absl::ResourceExhaustedError("used more than 4096 MiB"));
  EXPECT_EQ(greedy.status, "error");
  EXPECT_EQ(greedy.failure->error_class(), "CompileMemory");
  EXPECT_EQ(compiled(absl::InternalError("SIGSEGV")).status, "peer_compilation_fail");
}

TEST(RowResultTest, AKernelWithTooMuchSharedMemoryIsFilteredByTheCompiler) {
  if (!HasNvrtc()) GTEST_SKIP() << "no NVRTC";
  const auto compiled = [](const char* bytes) {
    const std::string source = record::Cat("extern \"C\" __global__ void k(char* x) { __shared__ char s[", bytes,
                                           "]; s[threadIdx.x] = x[0]; __syncthreads(); x[1] = s[x[0]]; }");
    return NotCompiled({.code = device::CompileCuda(source, "sm_90").status()});
  };
  const AttemptRow row = compiled("300000");
  EXPECT_EQ(row.status, "filtered");
  EXPECT_EQ(row.failure->phase(), "compile");
  EXPECT_EQ(row.failure->error_class(), "OutOfResources");
  EXPECT_THAT(row.failure->message(), testing::HasSubstr("uses too much shared data (0x493e0 bytes"));
  EXPECT_EQ(compiled("-1").failure->error_class(), "CompileError");
}

TEST(RowResultTest, AHangIsATimeout) {
  EXPECT_EQ(Failed("run", "Hang", "DEADLINE_EXCEEDED", "").status, "timeout");
  const AttemptRow crash = Failed("run", "Crash", "SIGSEGV", "the log");
  EXPECT_EQ(crash.status, "error");
  EXPECT_EQ(crash.failure->code(), "SIGSEGV");
  EXPECT_EQ(crash.failure->log_sha256(), record::Sha256("the log"));
  EXPECT_FALSE(crash.perf_ms.has_value());
}

TEST(RowResultTest, AConfigThatWasGivenUpHasItsRoughTime) {
  measure::wire::Outcome outcome;
  outcome.set_gave_up(true);
  for (const double ms : {3, 1, 2}) outcome.add_samples_ms(ms);
  const AttemptRow row = Measured(outcome);
  EXPECT_EQ(row.status, "ok");
  EXPECT_EQ(row.perf_ms, 2);
  EXPECT_EQ(row.detail->stage(), v1::MeasurementDetail::STAGE_SCREENING);
}

TEST(RowResultTest, KeepsWhatIsKnownOfTheCode) {
  measure::wire::Outcome outcome;
  outcome.set_perf_ms(0.5);
  for (const double ms : {0.5, 0.6}) outcome.add_samples_ms(ms);
  outcome.mutable_attributes()->set_registers(40);
  outcome.mutable_attributes()->set_spill_bytes(8);
  outcome.mutable_attributes()->set_shared_bytes(1024);
  outcome.mutable_attributes()->set_binary_bytes(9000);
  outcome.mutable_attributes()->set_occupancy(0.5);
  outcome.mutable_check()->set_worst_absolute(1e-3);
  outcome.mutable_check()->set_worst_relative(1e-2);
  const AttemptRow row = Measured(outcome);
  EXPECT_EQ(row.perf_ms, 0.5);
  EXPECT_EQ(row.detail->samples_ms_size(), 2);
  EXPECT_EQ(row.detail->registers(), 40u);
  EXPECT_EQ(row.detail->spill_bytes(), 8u);
  EXPECT_EQ(row.detail->shared_bytes(), 1024u);
  EXPECT_EQ(row.detail->binary_bytes(), 9000u);
  EXPECT_EQ(row.detail->occupancy(), 0.5);
  EXPECT_EQ(row.detail->worst_absolute_error(), 1e-3);
}

TEST(RowResultTest, ALongLogIsCutAtACharacter) {
  std::string log(1999, 'x');
  for (int i = 0; i < 100; ++i) log += "\u00e9";
  const AttemptRow row = NotCompiled({.code = absl::InvalidArgumentError(log)});
  EXPECT_EQ(row.failure->message(), std::string(1999, 'x') + "...");
  EXPECT_EQ(row.failure->log_sha256(), record::Sha256(log));
}

}  // namespace
}  // namespace telemetry::worker::tune
