#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/storage/sqlite/acked_tally.h"
#include "server/storage/sqlite/checkpointer.h"
#include "server/storage/sqlite/lock_file.h"
#include "server/storage/sqlite/sqlite_database.h"
#include "server/storage/sqlite/sqlite_space.h"
#include "server/storage/sqlite/sqlite_store.h"
#include "server/storage/store.h"
#include "server/storage/tables/attempt_remover.h"
#include "server/storage/tables/batch_writer.h"
#include "server/storage/tables/cache_table.h"
#include "server/storage/tables/model_table.h"
#include "server/storage/tables/pruner.h"

namespace telemetry::storage::sqlite {

// The StoreWriter over SQLite. After its first error it returns the same error for ever: the state of the database is
// unknown then (DESIGN.md, SQLite), and the process has to end.
class SqliteWriter : public StoreWriter {
 public:
  SqliteWriter(LockFile lock, SqliteDatabase database, AckedTally acked, const WriterOptions& options);

  const std::string& dataset_id() const override { return acked_.dataset_id(); }
  absl::StatusOr<std::vector<OpenOutcome>> OpenProducers(absl::Span<const ProducerOpening> openings) override;
  absl::StatusOr<std::vector<BatchOutcome>> CommitBatches(absl::Span<const ProducerBatch> batches) override;
  absl::StatusOr<absl::Duration> AddServedTime(absl::Duration passed) override;
  absl::StatusOr<PruneStep> PruneSome(const PruneRules& rules) override;
  absl::StatusOr<v1::DeleteStep> RemoveAttempts(const Removal& removal) override;
  absl::StatusOr<std::vector<CachePutOutcome>> PutCacheEntries(absl::Span<const CachePut> puts,
                                                               const CacheBudget& budget) override;
  absl::StatusOr<ModelOutcome> ChangeModels(const ModelChange& change, const ModelBudget& budget) override;
  void SetUrgent(bool urgent) override { checkpointer_.SetUrgent(urgent); }
  absl::Status TidyUp() override;
  absl::Status Idle() override;

 private:
  absl::StatusOr<std::vector<OpenOutcome>> TryOpen(absl::Span<const ProducerOpening> openings);
  absl::StatusOr<std::vector<BatchOutcome>> TryCommit(absl::Span<const ProducerBatch> batches);
  absl::StatusOr<absl::Duration> TryAddServedTime(absl::Duration passed);
  absl::StatusOr<PruneStep> TryPrune(const PruneRules& rules);
  absl::StatusOr<v1::DeleteStep> TryRemove(const Removal& removal);
  absl::StatusOr<std::vector<CachePutOutcome>> TryPut(absl::Span<const CachePut> puts, const CacheBudget& budget);
  absl::StatusOr<ModelOutcome> TryChange(const ModelChange& change, const ModelBudget& budget);
  // Completes a committed removal of attempts.
  absl::Status AfterRemoval();
  // Completes a committed transaction that stored no records.
  absl::Status AfterOtherCommit();
  int64_t NowUnixUs() const { return absl::ToUnixMicros(clock_()); }
  // Stores an error of the database as the writer's final one.
  absl::Status Fail(absl::Status status);

  LockFile lock_;
  SqliteDatabase database_;
  AckedTally acked_;
  const std::function<absl::Time()> clock_;
  absl::Status failed_;
  tables::BatchWriter batches_;
  tables::CacheTable cache_;
  tables::ModelTable models_;
  SqliteSpace space_;
  tables::AttemptRemover remover_;
  std::optional<tables::Pruner> pruner_;  // the pass in progress
  Checkpointer checkpointer_;
};

}  // namespace telemetry::storage::sqlite
