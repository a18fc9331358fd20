#pragma once

#include <string>
#include <vector>

#include "server/storage/acked_mark.h"
#include "server/storage/attempt_table.h"
#include "server/storage/checkpointer.h"
#include "server/storage/config_table.h"
#include "server/storage/database.h"
#include "server/storage/detail_table.h"
#include "server/storage/ir_graph_table.h"
#include "server/storage/lock_file.h"
#include "server/storage/measurement_table.h"
#include "server/storage/producer_table.h"
#include "server/storage/reject_table.h"
#include "server/storage/run_table.h"
#include "server/storage/sender_table.h"
#include "server/storage/sqlite_store.h"
#include "server/storage/store.h"
#include "server/storage/transaction.h"

namespace telemetry::storage {

// The StoreWriter over SQLite. After its first error it gives the same error for ever: what SQLite holds then cannot be
// told from here (DESIGN.md, SQLite), and the process has to end.
class SqliteWriter : public StoreWriter {
 public:
  // `acked_records`: what the producers' committed_seq add up to. `padding_frames`: PaddingFrames.
  SqliteWriter(LockFile lock, AckedMarkFile mark, Database database, std::string dataset_id, uint64_t acked_records,
               uint32_t padding_frames, const WriterOptions& options);

  const std::string& dataset_id() const override { return dataset_id_; }
  absl::StatusOr<std::vector<absl::StatusOr<uint64_t>>> OpenProducers(
      absl::Span<const ProducerOpening> openings) override;
  absl::StatusOr<std::vector<BatchOutcome>> CommitBatches(absl::Span<const ProducerBatch> batches) override;
  absl::Status Idle() override;

 private:
  absl::StatusOr<std::vector<absl::StatusOr<uint64_t>>> TryOpen(absl::Span<const ProducerOpening> openings);
  // Whether the producer belongs to another sender than the one that opens it.
  absl::StatusOr<bool> IsSomebodyElses(const ProducerTable::Producer* producer, const ProducerOpening& opening);
  absl::StatusOr<std::vector<BatchOutcome>> TryCommit(absl::Span<const ProducerBatch> batches);
  // Stores one batch; its outcome says so when the batch is not in order.
  absl::Status Store(const ProducerBatch& batch, BatchOutcome& outcome);
  absl::Status StoreNew(const ProducerBatch& batch, uint64_t first_new_seq, BatchOutcome& outcome);
  // Stores one valid record.
  absl::Status Store(const v1::Record& record, const std::string& producer_id, MaybeRefusal& refusal);
  absl::Status Refuse(const v1::Record& record, RefusedRecord refused, const std::string& producer_id,
                      BatchOutcome& outcome);
  // Writes down what may be acknowledged now.
  absl::Status WriteMark();
  // Remembers an error of the database.
  absl::Status Fail(absl::Status status);

  LockFile lock_;
  AckedMarkFile mark_;
  Database database_;
  const std::string dataset_id_;
  const uint32_t padding_frames_;
  uint64_t acked_records_ = 0;  // of all producers together
  const std::function<absl::Time()> clock_;
  int64_t now_unix_us_ = 0;  // of the current transaction
  absl::Status failed_;
  CurrentSender sender_;

  SenderTable senders_;
  ProducerTable producers_;
  RunTable runs_;
  AttemptTable attempts_;
  ConfigTable configs_;
  MeasurementTable measurements_;
  DetailTable details_;
  IrGraphTable ir_graphs_;
  RejectTable rejects_;
  Checkpointer checkpointer_;
};

}  // namespace telemetry::storage
