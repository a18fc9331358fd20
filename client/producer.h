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

// The settings of a Producer.
struct ProducerOptions {
  // HOST:PORT of the collector.
  std::string collector;
  // Credentials for the collector. The files are read again for each connection.
  access::Credentials credentials;
  // Folder of the spool, created if missing. A lock in the folder excludes a second process.
  std::string spool_dir;
  // Name of the program, shown to the collector's operator.
  std::string client_name = "telemetry-client";
  // Limit for the unacknowledged bytes on disk. At the limit, or when the disk is full, Append() blocks until the
  // collector has acknowledged records, and `on_notice` reports the condition once. The producer never drops a record.
  // At least kMinSpoolLimitBytes.
  uint64_t spool_limit_bytes = uint64_t{4} << 30;
  // Longest time until the producer fsyncs a record. Append() writes each record to the operating system before it
  // returns, so that the record survives the end of the process. Only an fsync makes it survive a power cut; Flush()
  // forces one earlier. A record that the collector acknowledges within the interval needs no fsync. Sequence numbers
  // that a power cut loses are never used again in the same log.
  absl::Duration sync_interval = absl::Milliseconds(200);
  // The sender sends records this long after the last acknowledgement, so that records that arrive one by one share a
  // message. A record that arrives later is sent at once.
  absl::Duration linger = absl::Milliseconds(5);
  // Bounds of the pauses between attempts to connect. Each pause is drawn from zero up to a bound that doubles from
  // retry_first to retry_cap. Errors that a person has to repair (a wrong address, another protocol) are retried at the
  // cap.
  absl::Duration retry_first = absl::Milliseconds(50);
  absl::Duration retry_cap = absl::Seconds(10);
  // Called with messages for a person: the collector cannot be reached or is back, the spool is full. Called from any
  // thread.
  std::function<void(const std::string&)> on_notice;
  // Called for each record that the collector put into its rejects, on the delivering thread.
  std::function<void(const v1::Ack::Refused&)> on_refused;
  // Called with the number of the last acknowledged record when it changes. Runs on the delivering thread and must be
  // brief.
  std::function<void(uint64_t committed_seq)> on_committed;
  // Called when the collector's database is not the one that acknowledged records before, or is so old a copy that
  // neither side has some acknowledged records. Records acknowledged before may be missing there; a caller that still
  // has them may append them again. Called once per change, before any record goes to the new database. Called once
  // more if storing the change fails or the process ends at that moment. Runs on the delivering thread and must be
  // brief; Append() must be called from another thread.
  std::function<void()> on_new_dataset;
};

// Counters of a producer. The counters of outcomes cover the time since this process began.
struct ProducerStats {
  uint64_t appended_seq = 0;   // number of the last record in the spool
  uint64_t durable_seq = 0;    // number of the last record that was fsynced or acknowledged
  uint64_t committed_seq = 0;  // number of the last record that the collector acknowledged
  uint64_t spool_bytes = 0;    // unacknowledged bytes on disk
  uint64_t refused = 0;        // records that the collector put into its rejects
  uint64_t new_rows = 0;       // measurements that were new to the collector
  uint64_t known_rows = 0;     // measurements that the collector had already
  uint64_t reconnects = 0;
  bool connected = false;
};

// A durable log of records and its delivery to a collector. Append() returns when the record is in the spool. A
// delivering thread sends the record and retries with growing, jittered pauses until the collector has acknowledged it.
// A collector that is down does not slow Append() down before the spool is full. Records that an earlier process left
// in the spool are sent first. Thread-safe. `example.cc` beside this file is a complete program.
class Producer {
 public:
  // Opens the spool and starts the delivering thread. A spool that is damaged in its middle can be opened: the damaged
  // file is set aside, every intact record in it is kept, and `on_notice` reports the lost records and the file. An
  // existing spool on a full disk can also be opened, and its records are sent.
  //
  // Errors: INVALID_ARGUMENT if access::CheckAddress() refuses the collector, spool_dir is empty or the spool limit is
  // too low; ALREADY_EXISTS if another process uses the spool; FAILED_PRECONDITION if a newer version wrote it;
  // PERMISSION_DENIED, RESOURCE_EXHAUSTED or UNAVAILABLE if the folder cannot be used.
  static absl::StatusOr<std::unique_ptr<Producer>> Open(ProducerOptions options);

  // Stops sending. Unacknowledged records stay in the spool.
  virtual ~Producer() = default;

  // Appends the record to the log. Blocks while the spool is at its limit or its disk is full. Errors: INVALID_ARGUMENT
  // if the record is larger than record::kMaxRecordBytes; RESOURCE_EXHAUSTED if the disk is full although the spool has
  // no unacknowledged records; UNAVAILABLE if the disk fails. After an error the record is not in the log, and the call
  // may be retried.
  virtual absl::Status Append(const v1::Record& record) = 0;

  // Appends several records with one system call: all of them, or none if the call fails. Blocks and fails as Append()
  // does.
  virtual absl::Status AppendBatch(absl::Span<const v1::Record> records) = 0;

  // Blocks until every record appended so far is fsynced or acknowledged. Errors: RESOURCE_EXHAUSTED or UNAVAILABLE if
  // the disk fails.
  virtual absl::Status Flush() = 0;

  // Blocks until every record appended so far is acknowledged. Meanwhile `on_notice` reports every few seconds how many
  // records are unacknowledged. Errors: DEADLINE_EXCEEDED after `timeout`, with the number of unacknowledged records
  // and the reason in the message; UNAUTHENTICATED or PERMISSION_DENIED if the collector refused the credentials or a
  // credential file is wrong. The delivering thread keeps retrying after such a refusal, but a person has to repair the
  // credentials.
  virtual absl::Status Drain(absl::Duration timeout) = 0;

  virtual ProducerStats stats() const = 0;
};

// Lower bound of spool_limit_bytes. A record that is larger than the limit is accepted when the spool is empty.
inline constexpr uint64_t kMinSpoolLimitBytes = uint64_t{64} << 10;

}  // namespace telemetry::client
