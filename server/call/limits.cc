#include "server/call/limits.h"

namespace telemetry::call {

std::vector<std::pair<const char*, double>> LimitValues(const Limits& limits) {
  const auto number = [](uint64_t value) { return static_cast<double>(value); };
  return {{"window_bytes", number(limits.window_bytes)},
          {"max_batch_bytes", number(limits.max_batch_bytes)},
          {"in_flight_bytes", number(limits.in_flight_bytes)},
          {"waiting_bytes", number(limits.waiting_bytes)},
          {"receive_bytes", number(limits.receive_bytes)},
          {"memory_bytes", number(limits.memory_bytes)},
          {"unread_ack_bytes", number(limits.unread_ack_bytes)},
          {"max_connections", number(limits.max_connections)},
          {"max_connections_per_address", number(limits.max_connections_per_address)},
          {"max_streams", number(limits.max_streams)},
          {"max_streams_per_producer", number(limits.max_streams_per_producer)},
          {"max_exports", number(limits.max_exports)},
          {"max_streams_per_connection", number(limits.max_streams_per_connection)},
          {"producer_bytes_per_second", number(limits.producer_bytes_per_second)},
          {"max_source_bytes", number(limits.record.source_bytes)},
          {"max_ir_graph_bytes", number(limits.record.ir_graph_bytes)},
          {"max_config_bytes", number(limits.record.config_bytes)},
          {"max_json_bytes", number(limits.record.json_bytes)},
          {"max_failure_bytes", number(limits.record.failure_bytes)},
          {"cache_bytes", number(limits.cache.total_bytes)},
          {"cache_sender_bytes", number(limits.cache.of_sender())},
          {"cache_age_seconds", absl::ToDoubleSeconds(limits.cache.max_age)},
          {"handshake_timeout_seconds", absl::ToDoubleSeconds(limits.handshake_timeout)},
          {"open_timeout_seconds", absl::ToDoubleSeconds(limits.open_timeout)},
          {"unread_timeout_seconds", absl::ToDoubleSeconds(limits.unread_timeout)},
          {"export_timeout_seconds", absl::ToDoubleSeconds(limits.export_timeout)},
          {"stream_idle_timeout_seconds", absl::ToDoubleSeconds(limits.stream_idle_timeout)},
          {"connection_idle_timeout_seconds", absl::ToDoubleSeconds(limits.connection_idle_timeout)},
          {"keepalive_time_seconds", absl::ToDoubleSeconds(limits.keepalive_time)},
          {"keepalive_timeout_seconds", absl::ToDoubleSeconds(limits.keepalive_timeout)}};
}

}  // namespace telemetry::call
