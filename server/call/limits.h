#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "server/storage/record_sizes.h"

namespace telemetry::collector {

// The most records in one batch, however small they are.
inline constexpr uint64_t kMaxBatchRecords = 65536;
// The largest record that a client sends: no limit may be below it, or that client would come back with it for ever.
inline constexpr uint64_t kLargestRecordBytes = uint64_t{8} << 20;
// The most memory that one parsed record may take, as record_weight.h estimates it. A heavier one is rejected unparsed.
inline constexpr uint64_t kMaxRecordMemoryBytes = uint64_t{32} << 20;
// A batch is parsed and committed in pieces of at most this much, or of one record that is larger.
inline constexpr uint64_t kMaxPieceRows = 4096;
inline constexpr uint64_t kMaxPieceBytes = uint64_t{1} << 20;
inline constexpr uint64_t kMaxPieceMemoryBytes = uint64_t{8} << 20;
// A row in flight counts for at least so much.
inline constexpr uint64_t kLeastBytesOfRow = 512;
// What frames a batch's records, and leaves room.
inline constexpr uint64_t kMaxFramingBytes = uint64_t{1} << 20;

// A larger message is parsed on another thread than that of the sockets, if one is idle.
inline constexpr uint64_t kMaxSmallMessageBytes = uint64_t{64} << 10;

// What bounds the collector's memory, latency and disk.
struct Limits {
  // The most record bytes of one stream that may be unacknowledged.
  uint64_t window_bytes = uint64_t{16} << 20;
  // The most record bytes in one batch.
  uint64_t max_batch_bytes = kLargestRecordBytes;
  // The most bytes of all streams' records that are parsed and not yet committed, and of what holds them in memory;
  // three quarters of them of one sender, which is a token's name or, without a token, an address.
  uint64_t in_flight_bytes = uint64_t{32} << 20;
  // The most bytes of all streams' messages that wait for room among them. A sender that has more than half of them
  // makes way for others.
  uint64_t waiting_bytes = uint64_t{24} << 20;
  // The most bytes that gRPC holds of messages that are not there whole; three quarters of them of one address (an IPv4
  // address, a /64 of IPv6). Beyond it the connections that hold most are ended (server/net/receive_meter.h).
  uint64_t receive_bytes = uint64_t{48} << 20;
  // Resident memory of the process beyond which those connections and calls make way; 0: no limit, for a process that
  // does something else, too.
  uint64_t memory_bytes = 0;
  // The most bytes of all streams' Acks that their clients have not read.
  uint64_t unread_ack_bytes = uint64_t{16} << 20;
  // Open connections of the port: in total, and from one address (an IPv4 address, a /64 of IPv6); 0: half of those in
  // total. More are reset before any handshake. A connection takes 20 KB of memory, with TLS 85 KB, and each of its
  // calls 20 KB more.
  uint64_t max_connections = 2048;
  uint64_t max_connections_per_address = 0;
  // Exports at a time, half of them of one sender.
  uint64_t max_exports = 64;
  // Calls at a time but exports and health checks, three quarters of them of one sender; ingest streams of one
  // producer; calls of any kind on one connection.
  uint64_t max_streams = 2048;
  uint64_t max_streams_per_producer = 8;
  uint64_t max_streams_per_connection = 16;
  // Record bytes a second of one producer, on average; beyond it the collector reads no more from it for a while.
  uint64_t producer_bytes_per_second = uint64_t{256} << 20;
  // What a record holds.
  storage::RecordSizes record;
  // The most time for a connection to be established (TLS and HTTP/2), and for a call until its Open or request.
  absl::Duration handshake_timeout = absl::Seconds(20);
  absl::Duration open_timeout = absl::Seconds(20);
  // How long what is sent to a client may wait until it reads on.
  absl::Duration unread_timeout = absl::Seconds(30);
  // The most time for a whole export. Long: a large dataset over a slow line.
  absl::Duration export_timeout = absl::Hours(2);
  // How long a stream may say nothing, or not finish a message: what of it has come cannot be seen before it is whole.
  // Short, since clients come back when they have something to say; long enough for the largest message, at 200 kB/s.
  absl::Duration stream_idle_timeout = absl::Seconds(45);
  // How long a connection may be without a call.
  absl::Duration connection_idle_timeout = absl::Minutes(5);
  // A peer that says nothing for so long is asked whether it is there, and has so long to answer.
  absl::Duration keepalive_time = absl::Seconds(30);
  absl::Duration keepalive_timeout = absl::Seconds(15);
  // How long a batch may wait for room among the bytes in flight before its stream is told to come back later.
  absl::Duration admission_timeout = absl::Seconds(5);
  // What a stream that is turned away is told to wait.
  absl::Duration retry_delay = absl::Seconds(1);
  // The most that one transaction takes from the queue; records are counted as rows (record_weight.h).
  uint64_t group_records = 20000;
  uint64_t group_bytes = uint64_t{16} << 20;
  // After this long without work the write-ahead log is emptied.
  absl::Duration idle_after = absl::Seconds(1);
  // While less of the dataset's disk is free nothing new is taken; 0: whatever is free will do. What is being written
  // when that is found still has to fit in: a transaction, twice (the log, then the database), and the log before it.
  uint64_t keep_free_bytes = uint64_t{256} << 20;
};

// Their names and values, for the metrics; times in seconds.
std::vector<std::pair<const char*, double>> LimitValues(const Limits& limits);

}  // namespace telemetry::collector
