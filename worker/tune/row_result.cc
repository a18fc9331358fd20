#include "worker/tune/row_result.h"

#include <utility>

#include "proto/record/ids.h"
#include "worker/tune/measure/sample_statistics.h"
#include "worker/tune/recording/statuses.h"

namespace telemetry::worker::tune {
namespace {

namespace status = recording::status;
using recording::AttemptRow;

constexpr char kHang[] = "Hang";
// In the log of NVRTC: the kernel declares more shared memory than a block of the architecture can have.
constexpr std::string_view kTooMuchShared = "uses too much shared data";

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

v1::Failure MakeFailure(std::string phase, std::string error_class, std::string code, std::string_view message,
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
std::string ErrorClass(absl::StatusCode code) {
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

std::string_view MessageView(const absl::Status& status) { return {status.message().data(), status.message().size()}; }

v1::MeasurementDetail MakeDetail(const measure::wire::Outcome& outcome, v1::MeasurementDetail::Stage stage) {
  v1::MeasurementDetail detail;
  detail.set_stage(stage);
  *detail.mutable_samples_ms() = outcome.samples_ms();
  detail.set_throttled_samples(static_cast<uint64_t>(outcome.dropped_throttled()));
  const measure::wire::Attributes& code = outcome.attributes();
  if (code.registers() > 0) {
    detail.set_registers(static_cast<uint64_t>(code.registers()));
    detail.set_spill_bytes(code.spill_bytes());
  }
  if (code.binary_bytes() > 0) {
    detail.set_shared_bytes(code.shared_bytes());
    detail.set_binary_bytes(code.binary_bytes());
  }
  if (code.occupancy() > 0) detail.set_occupancy(code.occupancy());
  if (outcome.has_check()) {
    detail.set_worst_absolute_error(outcome.check().worst_absolute());
    detail.set_worst_relative_error(outcome.check().worst_relative());
  }
  if (outcome.sm_clock_mhz() > 0) detail.set_sm_clock_mhz(outcome.sm_clock_mhz());
  return detail;
}

}  // namespace

void SetNotGenerated(const absl::Status& status, AttemptRow* row) {
  const bool too_large = absl::IsResourceExhausted(status);
  row->status = too_large ? status::kFiltered : status::kError;
  row->failure = MakeFailure("generate", too_large ? "OutOfResources" : ErrorClass(status.code()),
                             absl::StatusCodeToString(status.code()), MessageView(status));
}

void SetNotCompiled(const compile::CompileResult& result, AttemptRow* row) {
  const absl::Status& status = result.code.status();
  row->status = status::kError;
  row->compile_time_s = result.seconds;
  std::string error_class = "CompileError";
  if (absl::IsDeadlineExceeded(status)) {
    row->status = status::kTimeout;
    error_class = "CompileTimeout";
  } else if (absl::IsInvalidArgument(status) && MessageView(status).find(kTooMuchShared) != std::string_view::npos) {
    row->status = status::kFiltered;
    error_class = "OutOfResources";
  } else if (absl::IsResourceExhausted(status)) {
    error_class = "CompileMemory";
  } else if (absl::IsInternal(status)) {
    row->status = status::kPeerCompilationFail;
    error_class = "CompilerCrash";
  }
  row->failure = MakeFailure("compile", std::move(error_class), absl::StatusCodeToString(status.code()),
                             MessageView(status), result.log());
}

void SetDuplicate(AttemptRow* row) { row->status = status::kDeduplicated; }

void SetNotRun(std::string_view why, AttemptRow* row) {
  row->status = status::kFiltered;
  row->failure = MakeFailure("run", "OverBudget", "CANCELLED", why);
}

void SetMeasured(const measure::wire::Outcome& outcome, v1::MeasurementDetail::Stage stage, AttemptRow* row) {
  row->detail = MakeDetail(outcome, outcome.gave_up() ? v1::MeasurementDetail::STAGE_SCREENING : stage);
  if (outcome.has_failure()) {
    const measure::wire::Failure& failure = outcome.failure();
    row->status = failure.error_class() == kHang ? status::kTimeout : status::kError;
    row->failure =
        MakeFailure(failure.phase(), failure.error_class(), failure.code(), failure.message(), failure.log());
    return;
  }
  row->status = status::kOk;
  if (outcome.gave_up()) {
    row->perf_ms = measure::Median(outcome.samples_ms());
  } else if (outcome.has_perf_ms()) {
    row->perf_ms = outcome.perf_ms();
  }
}

}  // namespace telemetry::worker::tune
