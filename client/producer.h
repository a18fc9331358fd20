#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "telemetry/v1/ingest.pb.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::client {

struct ProducerOptions {
  // HOST:PORT of the collector.
  std::string collector;
  // Folder of the spool; made when needed. One process at a time: a lock in it keeps a second one out.
  std::string spool_dir;
  // Who is there, for the collector's operator.
  std::string client_name = "telemetry-client";
  // At this many unacknowledged bytes on disk Append blocks (and `on_notice` says so once); nothing is ever dropped.
  uint64_t spool_limit_bytes = uint64_t{4} << 30;
  // Append hands its record to the operating system at once; it is forced to disk at the latest after this long, by
  // Flush, and before it is sent.
  absl::Duration sync_interval = absl::Milliseconds(200);
  // Called with things that a person should read: the collector is away, is back, the spool is full. From any thread.
  std::function<void(const std::string&)> on_notice;
  // Called for each record that the collector put into its rejects. From the transport's thread.
  std::function<void(const v1::Ack::Refused&)> on_refused;
};

struct ProducerStats {
  uint64_t appended_seq = 0;   // last record in the spool
  uint64_t durable_seq = 0;    // last record forced to the local disk
  uint64_t committed_seq = 0;  // last record that the collector acknowledged
  uint64_t spool_bytes = 0;    // on disk, not yet acknowledged
  uint64_t refused = 0;        // records refused since this process began
  uint64_t reconnects = 0;
  bool connected = false;
};

// A producer's durable log and its delivery. Append returns as soon as the record is in the spool; a thread of its own
// sends it, again and again with growing, jittered pauses, until the collector has acknowledged it. A collector that is
// away never slows Append down before the spool is full. Records that an earlier process left in the spool are sent
// first. Thread-safe.
//
//   auto producer = telemetry::client::Producer::Open({.collector = "127.0.0.1:4747", .spool_dir = "/var/spool/tuner"});
//   if (!producer.ok()) return producer.status();
//   telemetry::v1::Record record;
//   record.mutable_run()->set_run_id(run_id);
//   absl::Status status = (*producer)->Append(record);
//   ...
//   status = (*producer)->Drain(absl::Minutes(1));  // optional: what is left is sent by the next process
class Producer {
 public:
  // ALREADY_EXISTS: another process has the spool. DATA_LOSS: the spool is damaged in its middle; it was set aside under
  // the name that the message gives, and what could be read of it is kept. PERMISSION_DENIED, UNAVAILABLE: the folder.
  static absl::StatusOr<std::unique_ptr<Producer>> Open(ProducerOptions options);

  // Stops sending; what is not acknowledged stays in the spool.
  virtual ~Producer() = default;

  // Puts the record at the end of the log. Blocks while the spool is at its limit.
  // INVALID_ARGUMENT: larger than kMaxRecordBytes. RESOURCE_EXHAUSTED, UNAVAILABLE: the disk is full or fails; the record
  // is not in the log, and the call may be tried again.
  virtual absl::Status Append(const v1::Record& record) = 0;

  // Returns when everything appended so far is forced to the local disk.
  virtual absl::Status Flush() = 0;

  // Returns when everything appended so far is acknowledged. DEADLINE_EXCEEDED: not within `timeout`; the message says
  // how many records wait and why. FAILED_PRECONDITION: another process took over this log.
  virtual absl::Status Drain(absl::Duration timeout) = 0;

  virtual ProducerStats stats() const = 0;
};

inline constexpr uint64_t kMaxRecordBytes = uint64_t{8} << 20;

}  // namespace telemetry::client
