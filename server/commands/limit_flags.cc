#include "server/commands/limit_flags.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/cli/usage.h"
#include "proto/record/record_limit.h"

namespace telemetry::commands {
namespace {

// Returns an error for a limit below a client's largest record, which the collector would then refuse each time it is
// resent.
std::string CheckRecordLimit(const std::string& text) {
  constexpr uint64_t kMost = uint64_t{1} << 30;
  uint64_t bytes = 0;
  if (absl::SimpleAtoi(text, &bytes) && bytes >= record::kMaxRecordBytes && bytes <= kMost) return "";
  return absl::StrCat(text, " is not between ", record::kMaxRecordBytes, " (a client's largest record) and ", kMost);
}

// The group of the rarely needed flags, which only --help-all shows.
constexpr char kLimits[] = "Limits";

void AddAll(cli::Flags& flags, call::Limits& limits) {
  const CLI::Validator bytes(CheckRecordLimit, "");
  flags.Add("window-bytes", limits.window_bytes, "Most unacknowledged record bytes of a stream")->check(bytes);
  flags.Add("max-batch-bytes", limits.max_batch_bytes, "Most record bytes in a batch")->check(bytes);
  flags
      .Add("in-flight-bytes", limits.in_flight_bytes,
           "Most record bytes of all streams that are in flight: parsed and not yet committed")
      ->check(CLI::PositiveNumber);
  flags
      .Add("waiting-bytes", limits.waiting_bytes,
           "Most bytes of all streams' messages that wait for room in --in-flight-bytes; and of those that wait to be "
           "parsed")
      ->check(CLI::PositiveNumber);
  flags
      .Add("receive-bytes", limits.receive_bytes,
           "Most bytes of incomplete messages; one address may hold three quarters of them")
      ->check(bytes);
  flags.Add("memory-bytes", limits.memory_bytes,
            "Resident memory in bytes above which the connections that hold most are closed; 0: no limit");
  flags.Add("unread-ack-bytes", limits.unread_ack_bytes, "Most bytes of rejects in Acks that producers have not read")
      ->check(CLI::PositiveNumber);
  const auto number = [&flags](const char* name, uint64_t& value, const char* help) {
    flags.Add(name, value, help)->check(CLI::PositiveNumber);
  };
  number("max-connections", limits.max_connections,
         "Most open connections; lowered if the limit on open files does not allow as many");
  flags.Add("max-connections-per-address", limits.max_connections_per_address,
            "Most open connections from one IPv4 address or IPv6 /64; 0: half of --max-connections");
  number("max-streams", limits.max_streams,
         "Most concurrent calls, except exports and health checks; one sender may have three quarters of them");
  number("max-streams-per-producer", limits.max_streams_per_producer, "Most ingest streams of one producer");
  number("max-exports", limits.max_exports, "Most concurrent exports; one sender may have half of them");
  number("max-streams-per-connection", limits.max_streams_per_connection, "Most concurrent calls on one connection");
  number("producer-bytes-per-second", limits.producer_bytes_per_second,
         "Most record bytes per second of one producer; above it the collector reads from the producer more slowly");
  number("max-source-bytes", limits.record.source_bytes, "Most bytes of a kernel's source text");
  number("max-ir-graph-bytes", limits.record.ir_graph_bytes, "Most bytes of an IR graph");
  number("max-config-bytes", limits.record.config_bytes, "Most bytes of a config's text, and of a decorator");
  number("max-json-bytes", limits.record.json_bytes, "Most bytes of a JSON text in a record");
  number("max-failure-bytes", limits.record.failure_bytes, "Most bytes of a failure with its texts");
  number("max-event-bytes", limits.record.event_bytes, "Most bytes of the text of an attempt's event");
  flags.Seconds("handshake-timeout", limits.handshake_timeout,
                "Timeout for establishing a connection (TLS and HTTP/2)");
  flags.Seconds("open-timeout", limits.open_timeout, "Timeout for the Open of a stream or the request of a call");
  flags.Seconds("unread-timeout", limits.unread_timeout, "Timeout for a client to read a sent message");
  flags.Seconds("export-timeout", limits.export_timeout, "Timeout for an export or a deletion");
  flags.Seconds("stream-idle-timeout", limits.stream_idle_timeout, "Timeout for the next complete message of a stream");
  flags.Seconds("connection-idle-timeout", limits.connection_idle_timeout, "Timeout for a connection without calls");
  flags.Seconds("keepalive-time", limits.keepalive_time, "Keepalive: send a ping after this much silence of the peer");
  flags.Seconds("keepalive-timeout", limits.keepalive_timeout, "Keepalive: timeout for the reply to a ping");
  flags.Add("group-records", limits.group_records, "Most records in one transaction")->check(CLI::PositiveNumber);
  flags.Seconds("admission-timeout", limits.admission_timeout, "Timeout for a batch to be admitted under overload");
  flags.Seconds("retry-delay", limits.retry_delay, "Delay after which a refused producer should retry");
}

}  // namespace

void AddLimitFlags(cli::Flags& flags, call::Limits& limits) {
  CLI::App& command = flags.command();
  const size_t others = command.get_options().size();
  AddAll(flags, limits);
  const std::vector<CLI::Option*> options = command.get_options();
  for (size_t i = others; i < options.size(); ++i) options[i]->group(kLimits);
  cli::HideGroups(command, {kLimits});
}

}  // namespace telemetry::commands
