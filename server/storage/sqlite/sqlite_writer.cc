#include "server/storage/sqlite/sqlite_writer.h"

#include <memory>
#include <utility>

#include "proto/base/status_macros.h"
#include "server/storage/sql/transaction.h"
#include "server/storage/sqlite/dataset_file.h"
#include "server/storage/tables/served_time.h"

namespace telemetry::storage::sqlite {

absl::StatusOr<std::unique_ptr<StoreWriter>> OpenSqliteWriter(const std::string& path, const WriterOptions& options) {
  ASSIGN_OR_RETURN(LockFile lock, LockFile::Acquire(path));
  ASSIGN_OR_RETURN(SqliteDatabase database, OpenDatasetForWriting(path, options));
  ASSIGN_OR_RETURN(AckedTally acked, AckedTally::Open(database, path));
  return std::make_unique<SqliteWriter>(std::move(lock), std::move(database), std::move(acked), options);
}

SqliteWriter::SqliteWriter(LockFile lock, SqliteDatabase database, AckedTally acked, const WriterOptions& options)
    : lock_(std::move(lock)),
      database_(std::move(database)),
      acked_(std::move(acked)),
      clock_(options.clock),
      batches_(database_, tables::BatchWriter::Writers::kThisOne),
      cache_(database_),
      models_(database_),
      space_(database_),
      remover_(database_),
      checkpointer_(database_, options.checkpoint_pages, options.reader_patience) {}

absl::Status SqliteWriter::Fail(absl::Status status) {
  batches_.Forget();
  pruner_.reset();
  failed_ = std::move(status);
  return failed_;
}

absl::StatusOr<std::vector<OpenOutcome>> SqliteWriter::OpenProducers(absl::Span<const ProducerOpening> openings) {
  if (!failed_.ok()) return failed_;
  absl::StatusOr<std::vector<OpenOutcome>> outcomes = TryOpen(openings);
  if (!outcomes.ok()) return Fail(outcomes.status());
  return outcomes;
}

absl::StatusOr<std::vector<OpenOutcome>> SqliteWriter::TryOpen(absl::Span<const ProducerOpening> openings) {
  ASSIGN_OR_RETURN(sql::Transaction transaction, sql::Transaction::BeginWrite(database_));
  ASSIGN_OR_RETURN(std::vector<OpenOutcome> outcomes, batches_.OpenProducers(openings, NowUnixUs()));
  RETURN_IF_ERROR(transaction.Commit());
  return outcomes;
}

absl::StatusOr<std::vector<BatchOutcome>> SqliteWriter::CommitBatches(absl::Span<const ProducerBatch> batches) {
  if (!failed_.ok()) return failed_;
  absl::StatusOr<std::vector<BatchOutcome>> outcomes = TryCommit(batches);
  if (!outcomes.ok()) return Fail(outcomes.status());
  return outcomes;
}

absl::StatusOr<std::vector<BatchOutcome>> SqliteWriter::TryCommit(absl::Span<const ProducerBatch> batches) {
  RETURN_IF_ERROR(checkpointer_.AfterCommit());
  ASSIGN_OR_RETURN(sql::Transaction transaction, sql::Transaction::BeginWrite(database_));
  ASSIGN_OR_RETURN(std::vector<BatchOutcome> outcomes, batches_.Store(batches, NowUnixUs()));
  RETURN_IF_ERROR(transaction.Commit());
  uint64_t new_records = 0;
  for (size_t i = 0; i < batches.size(); ++i) {
    if (outcomes[i].status.ok()) new_records += batches[i].records.size() - outcomes[i].skipped;
  }
  RETURN_IF_ERROR(acked_.Add(database_, new_records, checkpointer_.log_pages()));
  return outcomes;
}

absl::StatusOr<absl::Duration> SqliteWriter::AddServedTime(absl::Duration passed) {
  if (!failed_.ok()) return failed_;
  absl::StatusOr<absl::Duration> served = TryAddServedTime(passed);
  if (!served.ok()) return Fail(served.status());
  return served;
}

absl::StatusOr<absl::Duration> SqliteWriter::TryAddServedTime(absl::Duration passed) {
  ASSIGN_OR_RETURN(sql::Transaction transaction, sql::Transaction::BeginWrite(database_));
  tables::ServedTime served(database_);
  RETURN_IF_ERROR(served.Add(passed));
  ASSIGN_OR_RETURN(absl::Duration total, served.Total());
  RETURN_IF_ERROR(transaction.Commit());
  return total;
}

absl::StatusOr<PruneStep> SqliteWriter::PruneSome(const PruneRules& rules) {
  if (!failed_.ok()) return failed_;
  absl::StatusOr<PruneStep> step = TryPrune(rules);
  if (!step.ok()) return Fail(step.status());
  return step;
}

absl::StatusOr<PruneStep> SqliteWriter::TryPrune(const PruneRules& rules) {
  if (!pruner_) {
    ASSIGN_OR_RETURN(const tables::PruneReach reach, tables::ComputeReach(database_, rules));
    pruner_.emplace(database_, space_, remover_, rules, reach);
  }
  ASSIGN_OR_RETURN(PruneStep step, pruner_->RemoveSome());
  if (step.done) pruner_.reset();
  if (step.attempts.empty() && step.rejects == 0) return step;
  RETURN_IF_ERROR(AfterRemoval());
  return step;
}

absl::Status SqliteWriter::AfterRemoval() {
  batches_.ForgetAttempts();
  return AfterOtherCommit();
}

absl::Status SqliteWriter::AfterOtherCommit() {
  absl::Status status = acked_.Add(database_, /*records=*/0, checkpointer_.log_pages());
  return status.ok() ? checkpointer_.AfterCommit() : status;
}

absl::StatusOr<v1::DeleteStep> SqliteWriter::RemoveAttempts(const Removal& removal) {
  if (!failed_.ok()) return failed_;
  absl::StatusOr<v1::DeleteStep> step = TryRemove(removal);
  if (!step.ok()) return Fail(step.status());
  return step;
}

absl::StatusOr<v1::DeleteStep> SqliteWriter::TryRemove(const Removal& removal) {
  ASSIGN_OR_RETURN(sql::Transaction transaction, sql::Transaction::BeginWrite(database_));
  ASSIGN_OR_RETURN(v1::DeleteStep step, remover_.Remove(removal));
  absl::Status status = transaction.Commit();
  if (status.ok()) status = AfterRemoval();
  if (!status.ok()) return status;
  return step;
}

absl::StatusOr<std::vector<CachePutOutcome>> SqliteWriter::PutCacheEntries(absl::Span<const CachePut> puts,
                                                                           const CacheBudget& budget) {
  if (!failed_.ok()) return failed_;
  absl::StatusOr<std::vector<CachePutOutcome>> outcomes = TryPut(puts, budget);
  if (!outcomes.ok()) return Fail(outcomes.status());
  return outcomes;
}

absl::StatusOr<std::vector<CachePutOutcome>> SqliteWriter::TryPut(absl::Span<const CachePut> puts,
                                                                  const CacheBudget& budget) {
  ASSIGN_OR_RETURN(sql::Transaction transaction, sql::Transaction::BeginWrite(database_));
  ASSIGN_OR_RETURN(std::vector<CachePutOutcome> outcomes, cache_.Store(puts, budget, NowUnixUs()));
  absl::Status status = transaction.Commit();
  if (status.ok()) status = AfterOtherCommit();
  if (!status.ok()) return status;
  return outcomes;
}

absl::StatusOr<ModelOutcome> SqliteWriter::ChangeModels(const ModelChange& change, const ModelBudget& budget) {
  if (!failed_.ok()) return failed_;
  absl::StatusOr<ModelOutcome> outcome = TryChange(change, budget);
  if (!outcome.ok()) return Fail(outcome.status());
  return outcome;
}

absl::StatusOr<ModelOutcome> SqliteWriter::TryChange(const ModelChange& change, const ModelBudget& budget) {
  ASSIGN_OR_RETURN(sql::Transaction transaction, sql::Transaction::BeginWrite(database_));
  ASSIGN_OR_RETURN(ModelOutcome outcome, models_.Change(change, budget, NowUnixUs()));
  absl::Status status = transaction.Commit();
  if (status.ok()) status = AfterOtherCommit();
  if (!status.ok()) return status;
  return outcome;
}

absl::Status SqliteWriter::TidyUp() {
  if (!failed_.ok()) return failed_;
  absl::Status status = checkpointer_.AfterCommit();
  return status.ok() ? status : Fail(status);
}

absl::Status SqliteWriter::Idle() {
  if (!failed_.ok()) return failed_;
  absl::Status status = checkpointer_.Idle();
  return status.ok() ? status : Fail(status);
}

}  // namespace telemetry::storage::sqlite
