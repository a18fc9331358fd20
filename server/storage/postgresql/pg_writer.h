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
#include "server/storage/postgresql/pg_database.h"
#include "server/storage/postgresql/pg_look_ahead.h"
#include "server/storage/postgresql/postgresql_store.h"
#include "server/storage/sql/statement.h"
#include "server/storage/store.h"
#include "server/storage/tables/attempt_remover.h"
#include "server/storage/tables/batch_writer.h"

namespace telemetry::storage {

// The StoreWriter over PostgreSQL. A transaction in whose way others were, or whose connection was lost, is done again
// for as long as PgWriterOptions says. Where the connection was lost during COMMIT, the producers' committed_seq tells
// what became of it: their rows stay locked until the server knows.
class PgWriter : public StoreWriter {
 public:
  PgWriter(std::unique_ptr<PgDatabase> database, std::string dataset_id, const PgWriterOptions& options);

  const std::string& dataset_id() const override { return dataset_id_; }
  absl::StatusOr<std::vector<absl::StatusOr<uint64_t>>> OpenProducers(
      absl::Span<const ProducerOpening> openings) override;
  absl::StatusOr<std::vector<BatchOutcome>> CommitBatches(absl::Span<const ProducerBatch> batches) override;
  // Nothing is removed from a server by age or size yet: served time is returned, but not written down, and PruneSome
  // is UNIMPLEMENTED.
  absl::StatusOr<absl::Duration> AddServedTime(absl::Duration passed) override;
  absl::StatusOr<PruneStep> PruneSome(const PruneRules& rules) override;
  absl::StatusOr<v1::DeleteStep> RemoveAttempts(const Removal& removal) override;
  // Asks the server whether it is there.
  absl::Status Idle() override;
  absl::Duration idle_interval() const override { return absl::Seconds(1); }
  bool GoesOnAfter(const absl::Status& error) const override;

 private:
  // Does `work` in a transaction, as often as it takes. `is_stored` is asked, in a transaction of its own, where nobody
  // knows whether the one before was committed.
  absl::Status Transact(absl::FunctionRef<absl::Status()> work, absl::FunctionRef<absl::StatusOr<bool>()> is_stored);
  // Once. `is_unknown`: the transaction may or may not have been committed.
  absl::Status TransactOnce(absl::FunctionRef<absl::Status()> work, bool& is_unknown);
  // In a transaction that waits for one that may be still under way.
  absl::StatusOr<bool> AreRemoved(const Removal& removal);
  absl::StatusOr<bool> AreStored(absl::Span<const ProducerBatch> batches, const std::vector<BatchOutcome>& outcomes);
  int64_t NowUnixUs() const { return absl::ToUnixMicros(options_.clock()); }

  std::unique_ptr<PgDatabase> database_;
  const std::string dataset_id_;
  const PgWriterOptions options_;
  absl::Duration served_;
  std::minstd_rand random_;  // so that two who were in each other's way do not meet again
  PgLookAhead look_ahead_;
  BatchWriter batches_;
  uint64_t remembered_on_ = 0;  // the connection on which it did
  Statement committed_seq_;
  AttemptRemover remover_;
};

}  // namespace telemetry::storage
