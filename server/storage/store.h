#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/storage/export_step.h"
#include "server/storage/prune_rules.h"
#include "server/storage/removal.h"
#include "telemetry/v1/dataset.pb.h"
#include "telemetry/v1/deletion.pb.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage {

class Deletion;
class Exporter;

struct RefusedRecord {
  uint64_t seq = 0;
  v1::Reject::Reason reason = v1::Reject::REASON_UNSPECIFIED;
  std::string message;
};

// A producer that presents itself.
struct ProducerOpening {
  std::string producer_id;  // 16 bytes
  uint64_t epoch = 0;
  std::string client;
  // Under which name it was let in. From then on the producer, and what it sends, belongs to that name. Empty: there
  // are no names here, and everyone may speak for every producer.
  std::string sender;
};

// Consecutive records of one producer's log, parsed.
struct ProducerBatch {
  std::string producer_id;  // 16 bytes
  uint64_t epoch = 0;
  uint64_t first_seq = 0;
  // records[i] has sequence number first_seq + i. A record that did not parse stands here as a Reject.
  std::vector<const v1::Record*> records;
  // The records that must not be stored, in the order of seq: those that did not parse, and those against which
  // Validate (validate.h) has something. The caller has run Validate over all records.
  std::vector<RefusedRecord> refused;
};

// What became of one ProducerBatch.
struct BatchOutcome {
  // OK; OUT_OF_RANGE: first_seq leaves a gap (the message names what is expected); FAILED_PRECONDITION: a higher epoch
  // of this producer is known; UNAVAILABLE: this opening is not known (any more), open again. Nothing of a batch that
  // is not OK was stored.
  absl::Status status;
  // The producer's log is durable up to here.
  uint64_t committed_seq = 0;
  // Of an OK batch: so many of its records had been committed before.
  uint64_t skipped = 0;
  // Records among the others that changed nothing: their contents were stored already, or their attempt was
  // superseded.
  uint64_t repeated = 0;
  // Measurements among the others: those that were stored, and those counted in `repeated`.
  uint64_t new_rows = 0;
  uint64_t known_rows = 0;
  std::vector<RefusedRecord> refused;
  // Bytes of the batch's rejects: of the refused records, and of those that the producer itself sent as rejects.
  uint64_t reject_bytes = 0;
};

// The one writer of a dataset. Not thread-safe: one thread owns it. Does its own locking against other processes.
class StoreWriter {
 public:
  virtual ~StoreWriter() = default;

  // 16 bytes, chosen when the dataset was made.
  virtual const std::string& dataset_id() const = 0;

  // Records in ONE durable transaction that these epochs exist. results[i] belongs to openings[i]: the producer's
  // committed_seq (0: a new one); FAILED_PRECONDITION: a higher epoch is known; PERMISSION_DENIED: the producer belongs
  // to another sender. Errors: as CommitBatches.
  virtual absl::StatusOr<std::vector<absl::StatusOr<uint64_t>>> OpenProducers(
      absl::Span<const ProducerOpening> openings) = 0;

  // The same for one.
  absl::StatusOr<uint64_t> OpenProducer(const std::string& producer_id, uint64_t epoch, const std::string& client) {
    absl::StatusOr<std::vector<absl::StatusOr<uint64_t>>> results = OpenProducers({{producer_id, epoch, client}});
    return results.ok() ? results->front() : results.status();
  }

  // Stores all batches in ONE durable transaction, in the given order; a later batch of the same producer continues the
  // earlier one. Records at or below committed_seq are skipped. outcomes[i] belongs to batches[i].
  // An error means that nothing is known to be durable: the caller must stop acknowledging and end the process
  // (DESIGN.md, SQLite), but for one that GoesOnAfter names.
  virtual absl::StatusOr<std::vector<BatchOutcome>> CommitBatches(absl::Span<const ProducerBatch> batches) = 0;

  // Writes down, durably, that the dataset was served for so long since the last call; returns how long that is in all.
  // It is what the rules below take for time (ServedTime). Errors: as CommitBatches.
  virtual absl::StatusOr<absl::Duration> AddServedTime(absl::Duration passed) = 0;

  // Removes a little of what the rules do not keep, in ONE durable transaction of some ten milliseconds (longer where
  // an attempt has very many rows). Steps with the same rules make a pass over the dataset; the one behind the last
  // begins another. Readers see an attempt whole or not at all. Errors: as CommitBatches.
  virtual absl::StatusOr<PruneStep> PruneSome(const PruneRules& rules) = 0;

  // Removes attempts, and their runs if no attempt is left, in ONE durable transaction of some ten milliseconds (longer
  // where an attempt has very many rows). Returns those that were still there. Rows of theirs that arrive later are
  // refused until the attempt is sent again. Errors: as CommitBatches.
  virtual absl::StatusOr<v1::DeleteStep> RemoveAttempts(const Removal& removal) = 0;

  // Housekeeping between transactions (WAL checkpoint), called when the writer is idle.
  virtual absl::Status Idle() = 0;
  // How often Idle is called while nothing else happens, so that it notices when the dataset cannot be reached.
  virtual absl::Duration idle_interval() const { return absl::InfiniteDuration(); }

  // Whether this error of a call is no end: nothing of the call may be acknowledged, and a later one may succeed.
  virtual bool GoesOnAfter(const absl::Status& /*error*/) const { return false; }
};

// Reads the dataset in short read transactions, so that the writer's log stays bounded. Not thread-safe; any number of
// readers may be open beside the writer.
class StoreReader {
 public:
  using Sink = std::function<absl::Status(const v1::ExportItem&)>;

  virtual ~StoreReader() = default;

  // How many producers have ever been opened.
  virtual absl::StatusOr<uint64_t> CountProducers() = 0;
  virtual absl::StatusOr<v1::ListRunsResponse> ListRuns(const v1::ListRunsRequest& request) = 0;
  virtual absl::StatusOr<v1::RunSummary> GetRun(const std::string& run_id) = 0;
  virtual absl::StatusOr<v1::ListAttemptsResponse> ListAttempts(const v1::ListAttemptsRequest& request) = 0;
  virtual absl::StatusOr<v1::AttemptSummary> GetAttempt(const std::string& attempt_id) = 0;
  virtual absl::StatusOr<v1::ListMeasurementsResponse> ListMeasurements(const v1::ListMeasurementsRequest& request) = 0;

  // Hands the part of the dataset that is asked for to `sink` in the order that dataset.proto gives. Ends early with
  // the sink's error. The item is reused between calls: copy what must outlive the call.
  virtual absl::Status Export(const v1::ExportRequest& request, const Sink& sink) = 0;
  // Takes the next step of an export (exporter.h). Its steps may be taken by different readers of one dataset.
  virtual absl::StatusOr<ExportStep> Next(Exporter& exporter) = 0;

  // Deletion::Begin and Deletion::Next, each in a read transaction. Different readers of one dataset may take the
  // steps.
  virtual absl::StatusOr<Deletion> BeginDeletion(const v1::DeleteRequest& request) = 0;
  virtual absl::StatusOr<Removal> Next(Deletion& deletion) = 0;
};

}  // namespace telemetry::storage
