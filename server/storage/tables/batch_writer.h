#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/storage/refusal.h"
#include "server/storage/sql/database.h"
#include "server/storage/store.h"
#include "server/storage/tables/attempt_table.h"
#include "server/storage/tables/config_table.h"
#include "server/storage/tables/detail_table.h"
#include "server/storage/tables/event_table.h"
#include "server/storage/tables/ir_graph_table.h"
#include "server/storage/tables/measurement_table.h"
#include "server/storage/tables/prefetcher.h"
#include "server/storage/tables/producer_table.h"
#include "server/storage/tables/reject_table.h"
#include "server/storage/tables/run_table.h"
#include "server/storage/tables/sender_table.h"
#include "server/storage/tables/unsent_producers.h"

namespace telemetry::storage::tables {

// Merges the records of producers into the tables of any kind of database: the part of a StoreWriter's work between
// BEGIN and COMMIT. Not thread-safe.
//
// The caller begins and commits the transaction. After an error, or if the outcome of the commit is unknown, the caller
// calls Forget().
class BatchWriter {
 public:
  // The processes that write to the dataset while this object exists. kThisOne: only this one, except for removals that
  // are reported through ForgetAttempts().
  enum class Writers { kThisOne, kMany };

  // `database` and `prefetcher` (nullptr: none) must outlive this object.
  BatchWriter(sql::Database& database, Writers writers, Prefetcher* prefetcher = nullptr);

  // Implement StoreWriter::OpenProducers and StoreWriter::CommitBatches.
  absl::StatusOr<std::vector<OpenOutcome>> OpenProducers(absl::Span<const ProducerOpening> openings,
                                                         int64_t now_unix_us);
  absl::StatusOr<std::vector<BatchOutcome>> Store(absl::Span<const ProducerBatch> batches, int64_t now_unix_us);

  // Discards cached state of a transaction that was not committed.
  void Forget();
  // Discards cached attempts and runs after a removal. Rows of removed attempts may still arrive and must not find them
  // in the caches.
  void ForgetAttempts();

 private:
  // Discards cached state that other writers may have changed since the last transaction. State that is read again is
  // locked.
  void BeginTransaction(int64_t now_unix_us);
  absl::StatusOr<OpenOutcome> Open(const ProducerOpening& opening);
  // Creates an unknown producer, if the limit of producers that never stored anything permits it.
  absl::StatusOr<OpenOutcome> OpenNew(const ProducerOpening& opening);
  // Returns whether the producer belongs to another sender than the one that opens it.
  absl::StatusOr<bool> BelongsToOtherSender(const ProducerTable::Producer& producer, const ProducerOpening& opening);

  // The records of a batch that are new and have to be stored.
  struct NewRecords {
    const ProducerBatch& batch;
    BatchOutcome& outcome;
    uint64_t first_seq = 0;
    int64_t sender = 0;
  };

  // Advances the producer past the batch. If the batch is not in order, sets the status of its outcome. Returns nullopt
  // if no record of the batch is to be stored.
  absl::StatusOr<std::optional<NewRecords>> Accept(const ProducerBatch& batch, BatchOutcome& outcome);
  absl::Status Prefetch(absl::Span<const NewRecords> accepted);
  absl::Status Store(const NewRecords& records);
  // Stores one valid record.
  absl::Status Store(const v1::Record& record, const std::string& producer_id, MaybeRefusal& refusal,
                     BatchOutcome& outcome);
  absl::Status Refuse(const v1::Record& record, RefusedRecord refused, const std::string& producer_id,
                      BatchOutcome& outcome);
  absl::Status StoreReject(const v1::Reject& reject, const std::string& producer_id, BatchOutcome& outcome);

  sql::Database& database_;
  const Writers writers_;
  Prefetcher* const prefetcher_;  // nullptr: none
  int64_t now_unix_us_ = 0;       // of the current transaction
  CurrentSender sender_;

  SenderTable senders_;
  ProducerTable producers_;
  UnsentProducers unsent_;
  RunTable runs_;
  AttemptTable attempts_;
  ConfigTable configs_;
  MeasurementTable measurements_;
  DetailTable details_;
  EventTable events_;
  IrGraphTable ir_graphs_;
  RejectTable rejects_;
};

}  // namespace telemetry::storage::tables
