#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/storage/postgresql/pg_advisory_lock.h"
#include "server/storage/postgresql/pg_database.h"
#include "server/storage/postgresql/pg_prefetcher.h"
#include "server/storage/postgresql/pg_retention.h"
#include "server/storage/postgresql/postgresql_store.h"
#include "server/storage/sql/statement.h"
#include "server/storage/store.h"
#include "server/storage/tables/attempt_remover.h"
#include "server/storage/tables/batch_writer.h"
#include "server/storage/tables/cache_table.h"
#include "server/storage/tables/model_table.h"

namespace telemetry::storage::postgresql {

// The StoreWriter over PostgreSQL. If other transactions were in the way or the connection was lost, the writer repeats
// the transaction for up to PgWriterOptions::patience. If the connection was lost during COMMIT, the producers'
// committed_seq shows the outcome: their rows stay locked until the server has decided it.
class PgWriter : public StoreWriter {
 public:
  PgWriter(std::unique_ptr<PgDatabase> database, std::string dataset_id, const PgWriterOptions& options);

  const std::string& dataset_id() const override { return dataset_id_; }
  absl::StatusOr<std::vector<OpenOutcome>> OpenProducers(absl::Span<const ProducerOpening> openings) override;
  absl::StatusOr<std::vector<BatchOutcome>> CommitBatches(absl::Span<const ProducerBatch> batches) override;
  // Adds the time only if this writer already held the lock of PgTask::kCountTime, so that two writers never count the
  // same time.
  absl::StatusOr<absl::Duration> AddServedTime(absl::Duration passed) override;
  absl::StatusOr<PruneStep> PruneSome(const PruneRules& rules) override;
  absl::StatusOr<v1::DeleteStep> RemoveAttempts(const Removal& removal) override;
  absl::StatusOr<std::vector<CachePutOutcome>> PutCacheEntries(absl::Span<const CachePut> puts,
                                                               const CacheBudget& budget) override;
  absl::StatusOr<ModelOutcome> ChangeModels(const ModelChange& change, const ModelBudget& budget) override;
  // Checks that the server can be reached.
  absl::Status Idle() override;
  absl::Duration idle_interval() const override { return absl::Seconds(1); }
  bool GoesOnAfter(const absl::Status& error) const override;

 private:
  // Runs `work` in a transaction, and repeats it as long as necessary. If the outcome of a commit is unknown, calls
  // `is_stored` in a transaction of its own.
  absl::Status Transact(absl::FunctionRef<absl::Status()> work, absl::FunctionRef<absl::StatusOr<bool>()> is_stored);
  // Runs `work` in a transaction once. Sets `is_unknown` if the transaction may or may not have been committed.
  absl::Status TransactOnce(absl::FunctionRef<absl::Status()> work, bool& is_unknown);
  // Return whether an earlier transaction was committed. Run in a transaction that waits for the earlier one if that is
  // still in progress.
  absl::StatusOr<bool> AreRemoved(const Removal& removal);
  absl::StatusOr<bool> AreStored(absl::Span<const ProducerBatch> batches, const std::vector<BatchOutcome>& outcomes);
  int64_t NowUnixUs() const { return absl::ToUnixMicros(options_.clock()); }

  std::unique_ptr<PgDatabase> database_;
  const std::string dataset_id_;
  const PgWriterOptions options_;
  std::minstd_rand random_;  // adds jitter to the back-off, so that two conflicting writers do not collide again
  PgPrefetcher prefetcher_;
  tables::BatchWriter batches_;
  uint64_t remembered_on_ = 0;  // the connection generation for which the caches are valid
  sql::Statement committed_seq_;
  tables::AttemptRemover remover_;
  tables::CacheTable cache_;
  tables::ModelTable models_;
  PgAdvisoryLock counts_time_;
  PgRetention retention_;
};

}  // namespace telemetry::storage::postgresql
