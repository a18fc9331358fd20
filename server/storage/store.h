#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/storage/cache_put.h"
#include "server/storage/export_step.h"
#include "server/storage/model_change.h"
#include "server/storage/prune_rules.h"
#include "server/storage/refusal.h"
#include "server/storage/removal.h"
#include "telemetry/v1/cache.pb.h"
#include "telemetry/v1/dataset.pb.h"
#include "telemetry/v1/deletion.pb.h"
#include "telemetry/v1/models.pb.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage {

namespace readers {
class Deletion;
class Exporter;
}  // namespace readers

// A record that was refused, with its sequence number and the reason.
struct RefusedRecord {
  uint64_t seq = 0;
  v1::Reject::Reason reason = v1::Reject::REASON_UNSPECIFIED;
  std::string message;
};

// A producer that opens its log.
struct ProducerOpening {
  std::string producer_id;  // 16 bytes
  uint64_t epoch = 0;
  std::string client;
  // The name of the token that authorised the producer. From then on the producer, and the records that it sends,
  // belong to that name. Empty: the collector uses no names, and any client may send for any producer.
  std::string sender;
  // The last record that this dataset has acknowledged, by the account of the producer. 0: not known. The storage does
  // not use it.
  uint64_t acked_seq = 0;
};

// The result of one ProducerOpening.
struct OpenOutcome {
  // FAILED_PRECONDITION: a higher epoch of this producer is stored. PERMISSION_DENIED: the producer belongs to another
  // sender. INVALID_ARGUMENT: `client` contains a NUL.
  absl::Status status;
  // If the status is OK: the producer's log is durable up to and including this sequence number. 0: a new producer.
  uint64_t committed_seq = 0;
};

// A record, and the reason why it must not be stored. The caller has run Validate() (validate.h) on the record.
struct CheckedRecord {
  const v1::Record* record = nullptr;  // a Reject if the record could not be parsed
  MaybeRefusal refusal = std::nullopt;
};

// Consecutive records of one producer's log, parsed.
struct ProducerBatch {
  std::string producer_id;  // 16 bytes
  uint64_t epoch = 0;
  uint64_t first_seq = 0;
  std::vector<CheckedRecord> records;  // records[i] has sequence number first_seq + i
};

// The result of storing one ProducerBatch.
struct BatchOutcome {
  // OUT_OF_RANGE: first_seq leaves a gap (the message contains the expected number). FAILED_PRECONDITION: a higher
  // epoch of this producer is stored. UNAVAILABLE: this opening is unknown or forgotten; open again. If the status is
  // not OK, no record of the batch was stored.
  absl::Status status;
  // The producer's log is durable up to and including this sequence number.
  uint64_t committed_seq = 0;
  // For an OK batch: the number of its records that had been committed before.
  uint64_t skipped = 0;
  // The number of other records that changed nothing: their contents were already stored, or their attempt was
  // superseded.
  uint64_t repeated = 0;
  // Measurements among the other records: those that were stored, and those counted in `repeated`.
  uint64_t new_rows = 0;
  uint64_t known_rows = 0;
  std::vector<RefusedRecord> refused;
  // Bytes of the batch's rejects: those of refused records, and those that the producer itself sent.
  uint64_t reject_bytes = 0;
};

// The only writer of a dataset. Not thread-safe: one thread owns it. Does its own locking against other processes.
class StoreWriter {
 public:
  virtual ~StoreWriter() = default;

  // 16 bytes, chosen when the dataset was created.
  virtual const std::string& dataset_id() const = 0;

  // Stores in ONE durable transaction that these epochs exist. outcomes[i] belongs to openings[i]. Returns errors of
  // CommitBatches.
  virtual absl::StatusOr<std::vector<OpenOutcome>> OpenProducers(absl::Span<const ProducerOpening> openings) = 0;

  // Opens one producer and returns its committed_seq.
  absl::StatusOr<uint64_t> OpenProducer(const std::string& producer_id, uint64_t epoch, const std::string& client) {
    absl::StatusOr<std::vector<OpenOutcome>> outcomes = OpenProducers({{producer_id, epoch, client}});
    if (!outcomes.ok()) return outcomes.status();
    const OpenOutcome& outcome = outcomes->front();
    return outcome.status.ok() ? absl::StatusOr<uint64_t>(outcome.committed_seq) : outcome.status;
  }

  // Stores all batches in ONE durable transaction, in the given order; a later batch of the same producer continues the
  // earlier one. Skips records at or below committed_seq. outcomes[i] belongs to batches[i].
  // After an error nothing is known to be durable: the caller must stop acknowledging and end the process (DESIGN.md,
  // SQLite), unless GoesOnAfter() returns true for the error.
  virtual absl::StatusOr<std::vector<BatchOutcome>> CommitBatches(absl::Span<const ProducerBatch> batches) = 0;

  // Adds, durably, the time that the dataset was served since the last call. Returns the total, which the rules below
  // use as time (ServedTime). Returns errors of CommitBatches.
  virtual absl::StatusOr<absl::Duration> AddServedTime(absl::Duration passed) = 0;

  // Removes a few rows that the rules do not keep, in ONE durable transaction of about ten milliseconds (longer if an
  // attempt has very many rows). Steps with the same rules make a pass over the dataset; the step after the last one
  // begins another pass. Readers see an attempt completely or not at all. Returns errors of CommitBatches.
  virtual absl::StatusOr<PruneStep> PruneSome(const PruneRules& rules) = 0;

  // Removes attempts, and their runs if no attempt is left, in ONE durable transaction of about ten milliseconds
  // (longer if an attempt has very many rows). Returns the attempts that still existed. Rows of these attempts that
  // arrive later are refused until the attempt is sent again. Returns errors of CommitBatches.
  virtual absl::StatusOr<v1::DeleteStep> RemoveAttempts(const Removal& removal) = 0;

  // Stores entries of the cache in ONE durable transaction, in the given order, and removes entries that the budget
  // does not keep. outcomes[i] belongs to puts[i]. Returns errors of CommitBatches.
  virtual absl::StatusOr<std::vector<CachePutOutcome>> PutCacheEntries(absl::Span<const CachePut> puts,
                                                                       const CacheBudget& budget) = 0;

  // Stores a part of a cost model or removes a model, in ONE durable transaction. Reads the whole file of a model that
  // becomes complete. Returns errors of CommitBatches.
  virtual absl::StatusOr<ModelOutcome> ChangeModels(const ModelChange& change, const ModelBudget& budget) = 0;

  // Tells whether other callers wait, so that the next calls should be short, at the expense of the throughput.
  virtual void SetUrgent(bool /*urgent*/) {}

  // Does the housekeeping that is due after CommitBatches (WAL checkpoint), so that the caller can answer before. What
  // is left undone, the next CommitBatches does. Returns errors of CommitBatches.
  virtual absl::Status TidyUp() { return absl::OkStatus(); }
  // Does all housekeeping. Called when the writer is idle.
  virtual absl::Status Idle() = 0;
  // The interval at which Idle() is called while nothing else happens, so that it detects when the dataset cannot be
  // reached.
  virtual absl::Duration idle_interval() const { return absl::InfiniteDuration(); }

  // Returns true if the writer can continue after this error of a call: nothing of the call may be acknowledged, and a
  // later call may succeed.
  virtual bool GoesOnAfter(const absl::Status& /*error*/) const { return false; }
};

// Reads the dataset in short read transactions, so that the writer's log stays bounded. Not thread-safe; any number of
// readers may be open beside the writer.
class StoreReader {
 public:
  using Sink = std::function<absl::Status(v1::ExportItem)>;

  virtual ~StoreReader() = default;

  // Returns the number of producers that have ever been opened.
  virtual absl::StatusOr<uint64_t> CountProducers() = 0;
  virtual absl::StatusOr<v1::ListRunsResponse> ListRuns(const v1::ListRunsRequest& request) = 0;
  virtual absl::StatusOr<v1::RunSummary> GetRun(const std::string& run_id) = 0;
  virtual absl::StatusOr<v1::ListAttemptsResponse> ListAttempts(const v1::ListAttemptsRequest& request) = 0;
  virtual absl::StatusOr<v1::AttemptSummary> GetAttempt(const std::string& attempt_id) = 0;
  virtual absl::StatusOr<v1::ListMeasurementsResponse> ListMeasurements(const v1::ListMeasurementsRequest& request) = 0;

  // Returns the bytes that the entries of the cache are charged for.
  virtual absl::StatusOr<uint64_t> CacheBytes() = 0;
  // Return entries of the cache that were stored at or after `oldest_unix_us` (cache.proto, readers/cache_reader.h).
  virtual absl::StatusOr<v1::CacheEntry> GetCacheEntry(const v1::GetCacheRequest& request, int64_t oldest_unix_us) = 0;
  virtual absl::StatusOr<v1::ListCacheResponse> ListCacheEntries(const v1::ListCacheRequest& request,
                                                                 int64_t oldest_unix_us) = 0;

  // Return stored cost models (models.proto, readers/model_reader.h).
  virtual absl::StatusOr<v1::ListModelsResponse> ListModels(const v1::ListModelsRequest& request) = 0;
  virtual absl::StatusOr<v1::ReadModelResponse> ReadModel(const v1::ReadModelRequest& request) = 0;

  // Passes the requested part of the dataset to `sink`, in the order that dataset.proto defines. Ends early with the
  // sink's error.
  virtual absl::Status Export(const v1::ExportRequest& request, const Sink& sink) = 0;
  // Takes the next step of an export (exporter.h). Different readers of one dataset may take the steps.
  virtual absl::StatusOr<ExportStep> Next(readers::Exporter& exporter) = 0;

  // Run Deletion::Begin and Deletion::Next in a read transaction each. Different readers of one dataset may take the
  // steps.
  virtual absl::StatusOr<readers::Deletion> BeginDeletion(const v1::DeleteRequest& request) = 0;
  virtual absl::StatusOr<Removal> Next(readers::Deletion& deletion) = 0;
};

}  // namespace telemetry::storage
