#include "worker/tune/verdict.h"

#include <utility>

#include "proto/record/ids.h"
#include "worker/tune/measure/sample_statistics.h"
#include "worker/tune/record/statuses.h"

namespace telemetry::worker::tune {
namespace {

constexpr char kHang[] = "Hang";

// The limit of a message in bytes. Compiler logs are too long for a row.
constexpr size_t kLongestMessage = 2000;

// Truncates a message to kLongestMessage bytes.
std::string Shortened(std::string message) {
  if (message.size() <= kLongestMessage) return message;
  size_t end = kLongestMessage;
  while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0) == 0x80) --end;  // do not split a UTF-8 character
  message.resize(end);
  return message + "...";
}

v1::Failure FailureOf(std::string phase, std::string error_class, std::string code, std::string_view message,
                      std::string_view log = "") {
  v1::Failure failure;
  failure.set_phase(std::move(phase));
  failure.set_error_class(std::move(error_class));
  failure.set_code(std::move(code));
  failure.set_message(Shortened(std::string(message)));
  if (!log.empty()) failure.set_log_sha256(record::Sha256(log));
  return failure;
}

// Returns the code as an error class: "Unimplemented" for UNIMPLEMENTED.
std::string ClassOf(absl::StatusCode code) {
  std::string name;
  bool begins = true;
  for (const char c : absl::StatusCodeToString(code)) {
    if (c == '_') {
      begins = true;
      continue;
    }
    name += begins ? c : static_cast<char>(c - 'A' + 'a');
    begins = false;
  }
  return name;
}

std::string_view Text(const absl::Status& status) { return {status.message().data(), status.message().size()}; }

v1::MeasurementDetail DetailOf(const MeasureOutcome& outcome, v1::MeasurementDetail::Stage stage) {
  v1::MeasurementDetail detail;
  detail.set_stage(stage);
  detail.mutable_samples_ms()->Add(outcome.samples_ms.begin(), outcome.samples_ms.end());
  detail.set_throttled_samples(static_cast<uint64_t>(outcome.dropped_throttled));
  const CodeAttributes& code = outcome.attributes;
  if (code.registers > 0) {
    detail.set_registers(static_cast<uint64_t>(code.registers));
    detail.set_spill_bytes(code.spill_bytes);
  }
  if (code.binary_bytes > 0) {
    detail.set_shared_bytes(code.shared_bytes);
    detail.set_binary_bytes(code.binary_bytes);
  }
  if (code.occupancy > 0) detail.set_occupancy(code.occupancy);
  if (outcome.check) {
    detail.set_worst_absolute_error(outcome.check->worst_absolute);
    detail.set_worst_relative_error(outcome.check->worst_relative);
  }
  if (outcome.sm_clock_mhz > 0) detail.set_sm_clock_mhz(outcome.sm_clock_mhz);
  return detail;
}

}  // namespace

Verdict NotGenerated(const absl::Status& status) {
  const bool too_large = absl::IsResourceExhausted(status);
  return {.status = too_large ? status::kFiltered : status::kError,
          .failure = FailureOf("generate", too_large ? "OutOfResources" : ClassOf(status.code()),
                               absl::StatusCodeToString(status.code()), Text(status))};
}

Verdict NotCompiled(const CompileResult& result) {
  const absl::Status& status = result.code.status();
  Verdict verdict = {.status = status::kError, .compile_time_s = result.seconds};
  std::string error_class = "CompileError";
  if (absl::IsDeadlineExceeded(status)) {
    verdict.status = status::kTimeout;
    error_class = "CompileTimeout";
  } else if (absl::IsInternal(status)) {
    verdict.status = status::kPeerCompilationFail;
    error_class = "CompilerCrash";
  }
  const std::string log = result.log();
  verdict.failure =
      FailureOf("compile", std::move(error_class), absl::StatusCodeToString(status.code()), Text(status), log);
  return verdict;
}

Verdict Duplicate() { return {.status = status::kDeduplicated}; }

Verdict NeverRun(const std::string& why) {
  return {.status = status::kFiltered, .failure = FailureOf("run", "OverBudget", "CANCELLED", why)};
}

Verdict Measured(const MeasureOutcome& outcome, v1::MeasurementDetail::Stage stage) {
  Verdict verdict = {.detail = DetailOf(outcome, outcome.gave_up ? v1::MeasurementDetail::STAGE_SCREENING : stage)};
  if (outcome.failure) {
    const MeasureFailure& failure = *outcome.failure;
    verdict.status = failure.error_class == kHang ? status::kTimeout : status::kError;
    verdict.failure = FailureOf(failure.phase, failure.error_class, failure.code, failure.message, failure.log);
    return verdict;
  }
  verdict.status = status::kOk;
  verdict.perf_ms = outcome.gave_up ? Median(outcome.samples_ms) : outcome.perf_ms;
  return verdict;
}

}  // namespace telemetry::worker::tune
