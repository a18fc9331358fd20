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
#include "server/storage/tables/ir_graph_table.h"
#include "server/storage/tables/look_ahead.h"
#include "server/storage/tables/measurement_table.h"
#include "server/storage/tables/producer_table.h"
#include "server/storage/tables/reject_table.h"
#include "server/storage/tables/run_table.h"
#include "server/storage/tables/sender_table.h"
#include "server/storage/tables/unsent_producers.h"

namespace telemetry::storage {

// Merges what producers send into the tables of any kind of database: what a StoreWriter does between the beginning of
// a transaction and its end. One thread.
//
// The caller begins the transaction, and commits it. After an error, or where nothing tells that it was committed, the
// caller calls Forget.
class BatchWriter {
 public:
  // Who writes to the dataset while this is open. kThisOne: nobody else, but for ForgetAttempts.
  enum class Writers { kThisOne, kMany };

  // `database` must outlive this, and `look_ahead`, where there is one.
  BatchWriter(Database& database, Writers writers, LookAhead* look_ahead = nullptr);

  // As StoreWriter has them.
  absl::StatusOr<std::vector<absl::StatusOr<uint64_t>>> OpenProducers(absl::Span<const ProducerOpening> openings,
                                                                      int64_t now_unix_us);
  absl::StatusOr<std::vector<BatchOutcome>> Store(absl::Span<const ProducerBatch> batches, int64_t now_unix_us);

  // Forgets what was remembered of the transaction that was not committed.
  void Forget();
  // Attempts, and runs with them, were removed: rows of them may still come, and must not find them here.
  void ForgetAttempts();

 private:
  // Forgets what others may have changed since the last transaction, and takes the locks on it anew when it is read.
  void BeginTransaction(int64_t now_unix_us);
  // The inner status is about the producer, the outer one about the database.
  absl::StatusOr<absl::StatusOr<uint64_t>> Open(const ProducerOpening& opening);
  // The known producer; nullptr: it was not known, and is made.
  absl::StatusOr<ProducerTable::Producer*> FindOrAdd(const ProducerOpening& opening);
  // Removes producers that never stored anything, where this new one is one too many.
  absl::Status LimitUnsent(const std::string& producer_id, int64_t sender);
  // Whether the producer belongs to another sender than the one that opens it.
  absl::StatusOr<bool> IsSomebodyElses(const ProducerTable::Producer& producer, const ProducerOpening& opening);

  // What of a batch has to be stored.
  struct NewRecords {
    const ProducerBatch& batch;
    BatchOutcome& outcome;
    uint64_t first_seq = 0;
    int64_t sender = 0;
  };

  // Advances the producer over the batch; its outcome says so when the batch is not in order. nullopt: nothing of it is
  // to be stored.
  absl::StatusOr<std::optional<NewRecords>> Accept(const ProducerBatch& batch, BatchOutcome& outcome);
  absl::Status LookAt(absl::Span<const NewRecords> accepted);
  absl::Status Store(const NewRecords& records);
  // Stores one valid record.
  absl::Status Store(const v1::Record& record, const std::string& producer_id, MaybeRefusal& refusal,
                     BatchOutcome& outcome);
  absl::Status Refuse(const v1::Record& record, RefusedRecord refused, const std::string& producer_id,
                      BatchOutcome& outcome);
  absl::Status StoreReject(const v1::Reject& reject, const std::string& producer_id, BatchOutcome& outcome);

  Database& database_;
  const Writers writers_;
  LookAhead* const look_ahead_;  // nullptr: none
  int64_t now_unix_us_ = 0;      // of the current transaction
  CurrentSender sender_;

  SenderTable senders_;
  ProducerTable producers_;
  UnsentProducers unsent_;
  RunTable runs_;
  AttemptTable attempts_;
  ConfigTable configs_;
  MeasurementTable measurements_;
  DetailTable details_;
  IrGraphTable ir_graphs_;
  RejectTable rejects_;
};

}  // namespace telemetry::storage
