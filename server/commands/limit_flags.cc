#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/commands/command_flags.h"
#include "server/commands/flag.h"

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
  Flag(serve, "receive-bytes", limits.receive_bytes,
       "Bytes of messages that are not there whole; three quarters of them of one address")
      ->check(bytes);
  Flag(serve, "memory-bytes", limits.memory_bytes,
       "Resident memory beyond which the connections that hold most are ended; 0: no limit");
  Flag(serve, "unread-ack-bytes", limits.unread_ack_bytes, "Bytes of refusals that producers have not read yet")
      ->check(CLI::PositiveNumber);
  const auto number = [serve](const char* name, uint64_t& value, const char* help) {
    Flag(serve, name, value, help)->check(CLI::PositiveNumber);
  };
  number("max-connections", limits.max_connections,
         "Open connections; at most what the limit of open files leaves beside the dataset's files");
  Flag(serve, "max-connections-per-address", limits.max_connections_per_address,
       "Open connections from one IPv4 address or IPv6 /64; 0: half of --max-connections");
  number("max-streams", limits.max_streams,
         "Calls at a time but exports and health checks; three quarters of them of one sender");
  number("max-streams-per-producer", limits.max_streams_per_producer, "Ingest streams of one producer");
  number("max-exports", limits.max_exports, "Exports at a time; half of them of one sender");
  number("max-streams-per-connection", limits.max_streams_per_connection, "Calls at a time on one connection");
  number("producer-bytes-per-second", limits.producer_bytes_per_second,
         "Record bytes a second of one producer; beyond it the collector reads no more from it for a while");
  number("max-source-bytes", limits.record.source_bytes, "Bytes of a kernel's source text");
  number("max-ir-graph-bytes", limits.record.ir_graph_bytes, "Bytes of an IR graph");
  number("max-config-bytes", limits.record.config_bytes, "Bytes of a config's text, and of a decorator");
  number("max-json-bytes", limits.record.json_bytes, "Bytes of a JSON text within a record");
  number("max-failure-bytes", limits.record.failure_bytes, "Bytes of a failure with its texts");
  Seconds(serve, "handshake-timeout", limits.handshake_timeout, "How long a connection may take to come about");
  Seconds(serve, "open-timeout", limits.open_timeout, "How long a stream may take to say whose it is");
  Seconds(serve, "unread-timeout", limits.unread_timeout, "How long a client may not read what it is sent");
  Seconds(serve, "export-timeout", limits.export_timeout, "How long an export may take");
  Seconds(serve, "stream-idle-timeout", limits.stream_idle_timeout, "How long a stream may send no message");
  Seconds(serve, "connection-idle-timeout", limits.connection_idle_timeout, "How long a connection may have no call");
  Seconds(serve, "keepalive-time", limits.keepalive_time, "How long a peer may be silent before it is asked for life");
  Seconds(serve, "keepalive-timeout", limits.keepalive_timeout, "How long it may take to answer that");
  Flag(serve, "group-records", limits.group_records, "The most records in one transaction")->check(CLI::PositiveNumber);
  Seconds(serve, "admission-timeout", limits.admission_timeout, "How long a batch waits for room under overload");
  Seconds(serve, "retry-delay", limits.retry_delay, "What a producer that is turned away is told to wait");
}

}  // namespace telemetry::collector
