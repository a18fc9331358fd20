#include "server/storage/postgresql/pg_writer.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "proto/base/status_macros.h"
#include "server/storage/postgresql/pg_migrator.h"
#include "server/storage/sql/transaction.h"
#include "server/storage/tables/served_time.h"

namespace telemetry::storage::postgresql {
namespace {

constexpr auto kFirstPause = std::chrono::milliseconds(5);
constexpr auto kLongestPause = std::chrono::milliseconds(1000);

// After this many transactions that failed because rows already existed or other writers stored the same rows at the
// same time, rows are inserted one by one.
constexpr int kMostCopies = 4;

bool MayBeDoneAgain(const absl::Status& status) { return absl::IsAborted(status) || absl::IsUnavailable(status); }

}  // namespace

absl::StatusOr<std::unique_ptr<StoreWriter>> OpenPostgresqlWriter(const std::string& url,
                                                                  const PgWriterOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<PgDatabase> database, PgDatabase::Open(url, sql::Database::Access::kWrite));
  RETURN_IF_ERROR(MigratePg(*database, options.clock()));
  std::string dataset_id;
  {
    sql::Statement read(*database, "SELECT dataset_id FROM dataset");
    ASSIGN_OR_RETURN(const bool row, read.Step());
    if (!row)
      return absl::FailedPreconditionError("the database is an unfinished copy: run telemetry-collector copy again");
    dataset_id = read.Bytes(0);
  }
  return std::make_unique<PgWriter>(std::move(database), std::move(dataset_id), options);
}

PgWriter::PgWriter(std::unique_ptr<PgDatabase> database, std::string dataset_id, const PgWriterOptions& options)
    : database_(std::move(database)),
      dataset_id_(std::move(dataset_id)),
      options_(options),
      random_(std::random_device()()),
      prefetcher_(*database_),
      batches_(*database_, tables::BatchWriter::Writers::kMany, &prefetcher_),
      committed_seq_(*database_, "SELECT committed_seq FROM producers WHERE producer_id = ?1 FOR SHARE"),
      remover_(*database_),
      cache_(*database_),
      models_(*database_),
      counts_time_(*database_, PgTask::kCountTime),
      retention_(*database_) {}

absl::StatusOr<std::vector<OpenOutcome>> PgWriter::OpenProducers(absl::Span<const ProducerOpening> openings) {
  absl::StatusOr<std::vector<OpenOutcome>> outcomes;
  RETURN_IF_ERROR(Transact(
      [&] {
        outcomes = batches_.OpenProducers(openings, NowUnixUs());
        return outcomes.status();
      },
      // Opening a producer again gives the same result.
      [] { return false; }));
  return outcomes;
}

absl::StatusOr<std::vector<BatchOutcome>> PgWriter::CommitBatches(absl::Span<const ProducerBatch> batches) {
  absl::StatusOr<std::vector<BatchOutcome>> outcomes;
  RETURN_IF_ERROR(Transact(
      [&] {
        outcomes = batches_.Store(batches, NowUnixUs());
        return outcomes.status();
      },
      [&] { return AreStored(batches, *outcomes); }));
  return outcomes;
}

absl::StatusOr<absl::Duration> PgWriter::AddServedTime(absl::Duration passed) {
  tables::ServedTime served(*database_);
  absl::StatusOr<absl::Duration> total;
  RETURN_IF_ERROR(Transact(
      [&]() -> absl::Status {
        const bool counted_so_far = counts_time_.is_held();
        RETURN_IF_ERROR(counts_time_.TryHold().status());
        if (counted_so_far) {
          RETURN_IF_ERROR(served.Add(passed));
        }
        total = served.Total();
        return total.status();
      },
      // The lock is lost with the connection, so the time is not added again.
      [] { return false; }));
  return total;
}

absl::StatusOr<PruneStep> PgWriter::PruneSome(const PruneRules& rules) {
  absl::StatusOr<std::optional<PruneStep>> step;
  bool is_repeated = false;
  absl::Status status = Transact(
      [&] {
        if (std::exchange(is_repeated, true)) retention_.Forget();
        step = retention_.Step(rules);
        return step.status();
      },
      // The next try begins a new pass, which finds the attempts that were not removed.
      [] { return false; });
  if (!status.ok()) {
    retention_.Forget();
    return status;
  }
  PruneStep result = (*step).value_or(PruneStep{.is_elsewhere = true});
  // If the connection was lost, so was the lock.
  if (result.done) retention_.End().IgnoreError();
  return result;
}

absl::StatusOr<v1::DeleteStep> PgWriter::RemoveAttempts(const Removal& removal) {
  absl::StatusOr<v1::DeleteStep> step;
  RETURN_IF_ERROR(Transact(
      [&] {
        step = remover_.Remove(removal);
        return step.status();
      },
      [&] { return AreRemoved(removal); }));
  return step;
}

absl::StatusOr<bool> PgWriter::AreRemoved(const Removal& removal) {
  // Runs without attempts are removed again; only the count of removed runs is lost.
  if (removal.keys.empty()) return false;
  ASSIGN_OR_RETURN(const sql::Transaction transaction, sql::Transaction::BeginWrite(*database_));
  ASSIGN_OR_RETURN(const bool is_there, remover_.IsThere(removal.keys.front()));
  return !is_there;
}

absl::StatusOr<std::vector<CachePutOutcome>> PgWriter::PutCacheEntries(absl::Span<const CachePut> puts,
                                                                       const CacheBudget& budget) {
  absl::StatusOr<std::vector<CachePutOutcome>> outcomes;
  bool is_repeated = false;
  absl::Status status = Transact(
      [&] {
        if (std::exchange(is_repeated, true)) cache_.Forget();
        outcomes = cache_.Store(puts, budget, NowUnixUs());
        return outcomes.status();
      },
      // Putting an entry again gives the same result.
      [] { return false; });
  if (status.ok()) return outcomes;
  cache_.Forget();
  return status;
}

absl::StatusOr<ModelOutcome> PgWriter::ChangeModels(const ModelChange& change, const ModelBudget& budget) {
  absl::StatusOr<ModelOutcome> outcome;
  const absl::Status status = Transact(
      [&] {
        outcome = models_.Change(change, budget, NowUnixUs());
        return outcome.status();
      },
      // A part that is stored already is not stored again. A removal that is repeated finds nothing.
      [] { return false; });
  if (!status.ok()) return status;
  return outcome;
}

absl::Status PgWriter::Idle() {
  const absl::StatusOr<sql::Transaction> transaction = sql::Transaction::BeginRead(*database_);
  return transaction.status();
}

// These errors concern the server or the network. A missing user or database may also be restored.
bool PgWriter::GoesOnAfter(const absl::Status& error) const {
  return MayBeDoneAgain(error) || absl::IsPermissionDenied(error) || absl::IsNotFound(error);
}

absl::Status PgWriter::Transact(absl::FunctionRef<absl::Status()> work,
                                absl::FunctionRef<absl::StatusOr<bool>()> is_stored) {
  const auto until = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(options_.patience);
  std::chrono::milliseconds pause = kFirstPause;
  bool is_unknown = false;
  int copies = 0;
  database_->set_uses_copy(true);
  prefetcher_.set_finds_rows(false);
  while (true) {
    absl::Status status;
    if (is_unknown) {
      const absl::StatusOr<bool> stored = is_stored();
      if (stored.ok() && *stored) return absl::OkStatus();
      status = stored.status();
      is_unknown = !stored.ok();
    }
    if (!is_unknown) {
      status = TransactOnce(work, is_unknown);
      if (status.ok()) return status;
    }
    batches_.Forget();
    if (database_->copy_failed()) {
      // This does not need a conflict with another writer: some of the rows already exist. The next try looks them up
      // first.
      prefetcher_.set_finds_rows(true);
      database_->set_uses_copy(++copies < kMostCopies);
      continue;
    }
    if (!MayBeDoneAgain(status) || std::chrono::steady_clock::now() >= until) return status;
    std::this_thread::sleep_for(pause + pause * (random_() % 1000) / 1000);
    pause = std::min(2 * pause, kLongestPause);
  }
}

absl::Status PgWriter::TransactOnce(absl::FunctionRef<absl::Status()> work, bool& is_unknown) {
  ASSIGN_OR_RETURN(sql::Transaction transaction, sql::Transaction::BeginWrite(*database_));
  // After a failover the new primary may not have the rows that were committed on the old one.
  if (const uint64_t connection = database_->connection().generation(); connection != remembered_on_) {
    batches_.Forget();
    remembered_on_ = connection;
  }
  RETURN_IF_ERROR(work());
  absl::Status status = transaction.Commit();
  is_unknown = !status.ok() && database_->commit_unknown();
  return status;
}

absl::StatusOr<bool> PgWriter::AreStored(absl::Span<const ProducerBatch> batches,
                                         const std::vector<BatchOutcome>& outcomes) {
  ASSIGN_OR_RETURN(const sql::Transaction transaction, sql::Transaction::BeginWrite(*database_));
  for (size_t i = 0; i < batches.size(); ++i) {
    if (!outcomes[i].status.ok()) continue;
    ASSIGN_OR_RETURN(const std::optional<int64_t> committed_seq,
                     committed_seq_.Bind(sql::Blob{batches[i].producer_id}).QueryInt());
    const auto stored = static_cast<uint64_t>(committed_seq.value_or(0));
    if (stored < outcomes[i].committed_seq) return false;
  }
  return true;
}

}  // namespace telemetry::storage::postgresql
