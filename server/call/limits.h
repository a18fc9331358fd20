#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "proto/record/record_limit.h"
#include "server/storage/cache_put.h"
#include "server/storage/model_change.h"
#include "server/storage/record_sizes.h"

namespace telemetry::call {

// The most records in one batch, regardless of their size.
inline constexpr uint64_t kMaxBatchRecords = 65536;
// The most memory that one parsed record may use, as estimated by record_weight.h. A record above it is refused
// unparsed.
inline constexpr uint64_t kMaxRecordMemoryBytes = uint64_t{32} << 20;
// The size limits of a piece: records, as rows (record_weight.h), and their bytes. A batch is parsed and committed in
// pieces; a piece above a limit has a single record.
struct PieceLimits {
  uint64_t rows = 4096;
  uint64_t bytes = uint64_t{1} << 20;
};
// The limits while transactions are short (BatchQueue::IsUrgent).
inline constexpr PieceLimits kShortPiece = {.rows = 512, .bytes = uint64_t{256} << 10};
// The limit of the memory of a piece, at all times.
inline constexpr uint64_t kMaxPieceMemoryBytes = uint64_t{4} << 20;
// The least number of bytes in flight that a row counts for.
inline constexpr uint64_t kLeastBytesOfRow = 512;
// The room for the framing of a batch's records within a message.
inline constexpr uint64_t kMaxFramingBytes = uint64_t{1} << 20;

// The thread that polls the sockets reads messages up to this size, and parses their batches of one piece. Other
// messages and batches are read and parsed by ParseQueue.
inline constexpr uint64_t kMaxSmallMessageBytes = uint64_t{64} << 10;

// The limits on the collector's memory, latency and disk use.
struct Limits {
  // The most record bytes of one stream that may be unacknowledged.
  uint64_t window_bytes = uint64_t{16} << 20;
  // The most record bytes in one batch.
  uint64_t max_batch_bytes = record::kMaxRecordBytes;
  // The most bytes of all streams' records that are parsed and not yet committed, including the memory that holds them.
  // One sender may use three quarters of them. A sender is a token's name or, without a token, an address.
  uint64_t in_flight_bytes = uint64_t{32} << 20;
  // The most bytes of all streams' messages that wait for room in in_flight_bytes (a sender that holds more than half
  // of them makes room for others), and of those that wait for a thread to parse them.
  uint64_t waiting_bytes = uint64_t{24} << 20;
  // The most bytes of incomplete messages that gRPC holds. One address (an IPv4 address, a /64 of IPv6) may use three
  // quarters of them. Above the limit the connections that hold most are closed (server/net/receive_meter.h).
  uint64_t receive_bytes = uint64_t{48} << 20;
  // Resident memory of the process above which the connections that hold most are closed. 0: no limit, for a process
  // that also does other work.
  uint64_t memory_bytes = 0;
  // The most bytes of all streams' Acks that their clients have not read.
  uint64_t unread_ack_bytes = uint64_t{16} << 20;
  // The most open connections of the port, in total and from one address (an IPv4 address, a /64 of IPv6; 0: half of
  // the total). Connections above a limit are reset before the handshake. A connection uses 20 KB of memory, or 85 KB
  // with TLS, and each of its calls 20 KB more.
  uint64_t max_connections = 2048;
  uint64_t max_connections_per_address = 0;
  // The most concurrent exports. One sender may have half of them.
  uint64_t max_exports = 64;
  // The most concurrent calls: in total, except exports and health checks (one sender may have three quarters of them);
  // ingest streams of one producer; calls of any kind on one connection.
  uint64_t max_streams = 2048;
  uint64_t max_streams_per_producer = 8;
  uint64_t max_streams_per_connection = 16;
  // The average rate of record bytes of one producer. When a producer exceeds it, the collector stops reading from that
  // producer for a while.
  uint64_t producer_bytes_per_second = uint64_t{256} << 20;
  // The size limits of the fields of a record.
  storage::RecordSizes record;
  // The bytes and the age of the entries of the cache.
  storage::CacheBudget cache;
  // The bytes and the number of the stored cost models.
  storage::ModelBudget models;
  // The longest time for a connection to be established (TLS and HTTP/2), and for a call until its Open or request
  // arrives.
  absl::Duration handshake_timeout = absl::Seconds(20);
  absl::Duration open_timeout = absl::Seconds(20);
  // The longest time that sent data may wait for the client to read it.
  absl::Duration unread_timeout = absl::Seconds(30);
  // The longest time for an export. It is long because a large dataset may be read over a slow line.
  absl::Duration export_timeout = absl::Hours(2);
  // The longest time without a complete message on a stream. An incomplete message is not visible before it is
  // complete. The timeout is short, because clients reconnect when they have something to send, and long enough for the
  // largest message at 200 kB/s.
  absl::Duration stream_idle_timeout = absl::Seconds(45);
  // The longest time that a connection may have no call.
  absl::Duration connection_idle_timeout = absl::Minutes(5);
  // Keepalive: after this much silence of the peer the collector sends a ping, and the peer has keepalive_timeout to
  // reply.
  absl::Duration keepalive_time = absl::Seconds(30);
  absl::Duration keepalive_timeout = absl::Seconds(15);
  // The longest time that a batch waits for room in in_flight_bytes before its stream is refused with RetryInfo.
  absl::Duration admission_timeout = absl::Seconds(5);
  // The delay that a refused stream receives in RetryInfo.
  absl::Duration retry_delay = absl::Seconds(1);
  // The most work that one transaction takes from the queue. Records are counted as rows (record_weight.h).
  uint64_t group_records = 20000;
  uint64_t group_bytes = uint64_t{16} << 20;
  // The write-ahead log is checkpointed after this much time without work.
  absl::Duration idle_after = absl::Seconds(1);
  // While fewer bytes are free on the dataset's disk, the collector accepts no new records. 0: accepts records until
  // the disk is full. The reserve must still hold the data being written at that moment: one transaction, twice (in the
  // log, then in the database), and the log before it.
  uint64_t keep_free_bytes = uint64_t{256} << 20;
};

// Returns the names and values of the limits for the metrics, times in seconds.
std::vector<std::pair<const char*, double>> LimitValues(const Limits& limits);

}  // namespace telemetry::call
