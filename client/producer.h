#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/access/credentials.h"
#include "telemetry/v1/ingest.pb.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::client {

struct ProducerOptions {
  // HOST:PORT of the collector.
  std::string collector;
  // What it is shown. The files are read again for each connection.
  access::Credentials credentials;
  // Folder of the spool; made when needed. One process at a time: a lock in it keeps a second one out.
  std::string spool_dir;
  // Who is there, for the collector's operator.
  std::string client_name = "telemetry-client";
  // At this many unacknowledged bytes on disk, or when the disk is full, Append blocks until the collector has taken
  // some (and `on_notice` says so once); nothing is ever dropped. At least kMinSpoolLimitBytes.
  uint64_t spool_limit_bytes = uint64_t{4} << 30;
  // Append hands its record to the operating system at once: it survives the end of the process, however it comes. It
  // is forced to disk, and survives a power cut, at the latest after this long or by Flush; a record that the collector
  // acknowledges earlier need not be. (Numbers that a power cut takes back are never used again in the same log.)
  absl::Duration sync_interval = absl::Milliseconds(200);
  // Records are sent this long after the last acknowledgement, so that those that come one by one share a message. One
  // that comes later than that is sent at once.
  absl::Duration linger = absl::Milliseconds(6);
  // Pauses between attempts to reach the collector are drawn from zero up to a bound that doubles from the first to the
  // cap. Errors that somebody has to mend (a wrong address, another protocol) are retried at the cap.
  absl::Duration retry_first = absl::Milliseconds(50);
  absl::Duration retry_cap = absl::Seconds(10);
  // Called with things that a person should read: the collector is away, is back, the spool is full. From any thread.
  std::function<void(const std::string&)> on_notice;
  // Called for each record that the collector put into its rejects. From the transport's thread.
  std::function<void(const v1::Ack::Refused&)> on_refused;
  // Called with the last acknowledged record when that changes. From the transport's thread: be brief.
  std::function<void(uint64_t committed_seq)> on_committed;
  // Called when the collector has another database than the one that acknowledged before (or so old a copy of it that
  // acknowledged records are gone from both ends): what was acknowledged is not there, and who still can may send it
  // again. Called once per change, before any record goes to the new database; once more when storing the change fails
  // or the process ends in that moment. From the transport's thread: be brief, and Append from another thread.
  std::function<void()> on_new_dataset;
};

struct ProducerStats {
  uint64_t appended_seq = 0;   // last record in the spool
  uint64_t durable_seq = 0;    // last record forced to the local disk, or acknowledged
  uint64_t committed_seq = 0;  // last record that the collector acknowledged
  uint64_t spool_bytes = 0;    // on disk, not yet acknowledged
  uint64_t refused = 0;        // records refused since this process began
  uint64_t new_rows = 0;       // likewise, measurements that were new to the collector
  uint64_t known_rows = 0;     // likewise, measurements that changed nothing
  uint64_t reconnects = 0;
  bool connected = false;
};

// A producer's durable log and its delivery. Append returns as soon as the record is in the spool; a thread of its own
// sends it, again and again with growing, jittered pauses, until the collector has acknowledged it. A collector that is
// away never slows Append down before the spool is full. Records that an earlier process left in the spool are sent
// first. Thread-safe. `example.cc` beside this file is a whole program.
class Producer {
 public:
  // A spool that is damaged in its middle opens: the damaged file is set aside, every whole record in it is kept, and
  // `on_notice` says what is lost and where the file is.
  // A full disk is no hindrance where the spool was used before: what waits in it is sent.
  // INVALID_ARGUMENT: a collector that access::CheckAddress refuses, no spool_dir, or a spool limit that is too low.
  // ALREADY_EXISTS: another process has the spool. FAILED_PRECONDITION: a newer version wrote it. PERMISSION_DENIED,
  // RESOURCE_EXHAUSTED, UNAVAILABLE: the folder.
  static absl::StatusOr<std::unique_ptr<Producer>> Open(ProducerOptions options);

  // Stops sending; what is not acknowledged stays in the spool.
  virtual ~Producer() = default;

  // Puts the record at the end of the log. Blocks while the spool is at its limit or its disk is full.
  // INVALID_ARGUMENT: larger than kMaxRecordBytes. RESOURCE_EXHAUSTED: the disk is full though nothing waits in the
  // spool; UNAVAILABLE: the disk fails. After an error the record is not in the log, and the call may be tried again.
  virtual absl::Status Append(const v1::Record& record) = 0;

  // The same for several records with one call of the operating system: all are in the log, or on an error none.
  virtual absl::Status AppendBatch(absl::Span<const v1::Record> records) = 0;

  // Returns when everything appended so far is forced to the local disk (or acknowledged). RESOURCE_EXHAUSTED,
  // UNAVAILABLE: the disk fails.
  virtual absl::Status Flush() = 0;

  // Returns when everything appended so far is acknowledged. Until then `on_notice` says every few seconds how many
  // records wait. DEADLINE_EXCEEDED: not within `timeout`; the message says how many records wait and why.
  // UNAUTHENTICATED, PERMISSION_DENIED: the collector has turned this producer away, or a file of its credentials is
  // wrong; it goes on trying, but somebody has to act.
  virtual absl::Status Drain(absl::Duration timeout) = 0;

  virtual ProducerStats stats() const = 0;
};

inline constexpr uint64_t kMaxRecordBytes = uint64_t{8} << 20;
// A larger record than the whole spool still passes: it goes into an empty one.
inline constexpr uint64_t kMinSpoolLimitBytes = uint64_t{64} << 10;

}  // namespace telemetry::client
