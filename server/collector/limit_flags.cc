#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/collector/command_flags.h"
#include "server/collector/flag.h"

namespace telemetry::collector {
namespace {

// Lower limits would turn a client's largest record away each time it comes.
std::string CheckRecordLimit(const std::string& text) {
  constexpr uint64_t kMost = uint64_t{1} << 30;
  uint64_t bytes = 0;
  if (absl::SimpleAtoi(text, &bytes) && bytes >= kLargestRecordBytes && bytes <= kMost) return "";
  return absl::StrCat(text, " is not between ", kLargestRecordBytes, " (a client's largest record) and ", kMost);
}

}  // namespace

void AddLimits(CLI::App* serve, Limits& limits) {
  const CLI::Validator bytes(CheckRecordLimit, "");
  Flag(serve, "window-bytes", limits.window_bytes, "Record bytes that may be unacknowledged on a stream")->check(bytes);
  Flag(serve, "max-batch-bytes", limits.max_batch_bytes, "Record bytes in one batch")->check(bytes);
  Flag(serve, "in-flight-bytes", limits.in_flight_bytes, "Record bytes of all streams on their way to disk")
      ->check(CLI::PositiveNumber);
  Flag(serve, "waiting-bytes", limits.waiting_bytes, "Bytes of all streams' messages that wait for room among those")
      ->check(CLI::PositiveNumber);
  Flag(serve, "receive-bytes", limits.receive_bytes, "Bytes of all connections' messages that arrive or wait")
      ->check(bytes);
  Flag(serve, "unread-ack-bytes", limits.unread_ack_bytes, "Bytes of refusals that producers have not read yet")
      ->check(CLI::PositiveNumber);
  Flag(serve, "group-records", limits.group_records, "The most records in one transaction")->check(CLI::PositiveNumber);
  Seconds(serve, "admission-timeout", limits.admission_timeout, "How long a batch waits for room under overload");
  Seconds(serve, "retry-delay", limits.retry_delay, "What a producer that is turned away is told to wait");
}

}  // namespace telemetry::collector
