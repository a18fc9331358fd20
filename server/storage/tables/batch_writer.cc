#include "server/storage/tables/batch_writer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace telemetry::storage::tables {
namespace {

absl::Status OpenAgain() {
  return absl::UnavailableError("the dataset has no record of this opening: open the producer again");
}

}  // namespace

BatchWriter::BatchWriter(sql::Database& database, Writers writers, Prefetcher* prefetcher)
    : database_(database),
      writers_(writers),
      prefetcher_(prefetcher),
      senders_(database),
      producers_(database),
      unsent_(database),
      runs_(database, sender_),
      attempts_(database, runs_, sender_),
      configs_(database, runs_, sender_),
      measurements_(database, attempts_, configs_),
      details_(database, attempts_),
      events_(database, attempts_),
      ir_graphs_(database, runs_, sender_),
      rejects_(database) {}

void BatchWriter::Forget() {
  senders_.Forget();
  producers_.Forget();
  unsent_.Forget();
  runs_.Forget();
  attempts_.Forget();
  configs_.Forget();
  measurements_.Forget();
}

void BatchWriter::ForgetAttempts() {
  attempts_.Forget();
  runs_.Forget();
}

void BatchWriter::BeginTransaction(int64_t now_unix_us) {
  now_unix_us_ = now_unix_us;
  producers_.Trim();
  if (writers_ == Writers::kThisOne) return;
  // Other writers advance producers and remove runs and attempts. Configs, statuses and similar rows are never removed.
  producers_.Forget();
  ForgetAttempts();
}

absl::StatusOr<std::vector<OpenOutcome>> BatchWriter::OpenProducers(absl::Span<const ProducerOpening> openings,
                                                                    int64_t now_unix_us) {
  BeginTransaction(now_unix_us);
  std::vector<OpenOutcome> outcomes;
  for (const ProducerOpening& opening : openings) {
    ASSIGN_OR_RETURN(OpenOutcome outcome, Open(opening));
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

absl::StatusOr<OpenOutcome> BatchWriter::Open(const ProducerOpening& opening) {
  if (absl::StrContains(opening.client, '\0')) {
    return OpenOutcome{.status = absl::InvalidArgumentError("client contains a NUL")};
  }
  ASSIGN_OR_RETURN(ProducerTable::Producer* const producer, producers_.Find(opening.producer_id));
  if (producer == nullptr) return OpenNew(opening);
  ASSIGN_OR_RETURN(const bool other_sender, BelongsToOtherSender(*producer, opening));
  if (other_sender) {
    return OpenOutcome{
        .status = absl::PermissionDeniedError(
            "the producer belongs to another sender: use a token with the name that it was first opened with")};
  }
  const OpenOutcome opened = {.status = absl::OkStatus(), .committed_seq = producer->committed_seq};
  if (ProducerTable::IsOpen(*producer, opening)) return opened;
  if (absl::Status status = ProducerTable::CheckEpoch(*producer, opening.epoch); !status.ok()) {
    return OpenOutcome{.status = std::move(status)};
  }
  ASSIGN_OR_RETURN(const int64_t sender, senders_.FindOrInsertKey(opening.sender));
  RETURN_IF_ERROR(producers_.Reopen(*producer, opening, sender, now_unix_us_));
  return opened;
}

absl::StatusOr<OpenOutcome> BatchWriter::OpenNew(const ProducerOpening& opening) {
  ASSIGN_OR_RETURN(const int64_t sender, senders_.FindOrInsertKey(opening.sender));
  if (absl::Status why = unsent_.CheckAdd(sender, now_unix_us_); !why.ok())
    return OpenOutcome{.status = std::move(why)};
  ASSIGN_OR_RETURN(const bool added, producers_.Add(opening, sender, now_unix_us_));
  // The transaction is repeated, and then finds it.
  if (!added) return absl::AbortedError("another writer created this producer");
  ASSIGN_OR_RETURN(const std::vector<std::string> removed, unsent_.Add(opening.producer_id, sender, now_unix_us_));
  for (const std::string& id : removed) producers_.Remove(id);
  return OpenOutcome();
}

absl::StatusOr<bool> BatchWriter::BelongsToOtherSender(const ProducerTable::Producer& producer,
                                                       const ProducerOpening& opening) {
  if (producer.sender == 0 || opening.sender.empty()) return false;
  ASSIGN_OR_RETURN(const int64_t sender, senders_.Find(opening.sender));
  return sender != producer.sender;
}

absl::StatusOr<std::vector<BatchOutcome>> BatchWriter::Store(absl::Span<const ProducerBatch> batches,
                                                             int64_t now_unix_us) {
  BeginTransaction(now_unix_us);
  std::vector<BatchOutcome> outcomes(batches.size());
  std::vector<NewRecords> accepted;
  for (size_t i = 0; i < batches.size(); ++i) {
    ASSIGN_OR_RETURN(const std::optional<NewRecords> records, Accept(batches[i], outcomes[i]));
    if (records.has_value()) accepted.push_back(*records);
  }
  RETURN_IF_ERROR(Prefetch(accepted));
  for (const NewRecords& records : accepted) {
    RETURN_IF_ERROR(Store(records));
  }
  RETURN_IF_ERROR(producers_.Save());
  return outcomes;
}

absl::StatusOr<std::optional<BatchWriter::NewRecords>> BatchWriter::Accept(const ProducerBatch& batch,
                                                                           BatchOutcome& outcome) {
  ASSIGN_OR_RETURN(ProducerTable::Producer * producer, producers_.Find(batch.producer_id));
  if (producer == nullptr) {
    outcome.status = OpenAgain();
    return std::nullopt;
  }
  const uint64_t committed_seq = producer->committed_seq;
  outcome.committed_seq = committed_seq;
  outcome.status = ProducerTable::CheckEpoch(*producer, batch.epoch);
  // The row with the batch's epoch was removed, and an older process has opened the log since.
  if (batch.epoch > producer->epoch) outcome.status = OpenAgain();
  if (!outcome.status.ok()) return std::nullopt;
  if (batch.first_seq > committed_seq + 1) {
    outcome.status = absl::OutOfRangeError(
        absl::StrCat("the log has a gap: expected sequence number ", committed_seq + 1, ", got ", batch.first_seq));
    return std::nullopt;
  }
  const uint64_t end = batch.first_seq + batch.records.size();
  outcome.skipped = std::min<uint64_t>(committed_seq + 1 - batch.first_seq, batch.records.size());
  if (end <= committed_seq + 1) return std::nullopt;
  producers_.Advance(batch.producer_id, *producer, end - 1);
  outcome.committed_seq = end - 1;
  return NewRecords{.batch = batch, .outcome = outcome, .first_seq = committed_seq + 1, .sender = producer->sender};
}

absl::Status BatchWriter::Prefetch(absl::Span<const NewRecords> accepted) {
  if (prefetcher_ == nullptr) return absl::OkStatus();
  std::vector<Prefetcher::Entry> records;
  for (const auto& [batch, outcome, first_seq, sender] : accepted) {
    for (size_t i = first_seq - batch.first_seq; i < batch.records.size(); ++i) {
      const auto& [record, refusal] = batch.records[i];
      if (!refusal) records.push_back({record, sender});
    }
  }
  configs_.ForgetPrefetched();
  absl::Status status = prefetcher_->PrefetchKeys(records, runs_, configs_);
  return status.ok() ? prefetcher_->PrefetchRows(records, measurements_, details_, events_) : status;
}

absl::Status BatchWriter::Store(const NewRecords& records) {
  const ProducerBatch& batch = records.batch;
  BatchOutcome& outcome = records.outcome;
  sender_.Set(records.sender);
  for (uint64_t seq = records.first_seq; seq < batch.first_seq + batch.records.size(); ++seq) {
    const CheckedRecord& checked = batch.records[seq - batch.first_seq];
    const v1::Record& record = *checked.record;
    MaybeRefusal refusal = checked.refusal;
    if (!refusal) {
      const int64_t changed_rows = database_.changed_rows();
      RETURN_IF_ERROR(Store(record, batch.producer_id, refusal, outcome));
      const bool is_made =
          prefetcher_ != nullptr && prefetcher_->TakeMade({.record = &record, .sender = records.sender});
      const bool is_new = is_made || database_.changed_rows() != changed_rows;
      if (!refusal && !is_new) ++outcome.repeated;
      if (!refusal && record.has_measurement()) ++(is_new ? outcome.new_rows : outcome.known_rows);
    }
    if (refusal) {
      RefusedRecord refused{.seq = seq, .reason = refusal->reason, .message = std::move(refusal->message)};
      RETURN_IF_ERROR(Refuse(record, std::move(refused), batch.producer_id, outcome));
    }
  }
  return absl::OkStatus();
}

absl::Status BatchWriter::Store(const v1::Record& record, const std::string& producer_id, MaybeRefusal& refusal,
                                BatchOutcome& outcome) {
  switch (record.kind_case()) {
    case v1::Record::kMeasurement:
      return measurements_.Store(record.measurement(), refusal);
    case v1::Record::kSourceHash:
      return measurements_.Store(record.source_hash(), refusal);
    case v1::Record::kMeasurementDetail:
      return details_.Store(record.measurement_detail(), refusal);
    case v1::Record::kAttemptEvent:
      return events_.Store(record.attempt_event(), refusal);
    case v1::Record::kConfig:
      return configs_.Store(record.config(), refusal);
    case v1::Record::kRunConfig:
      return configs_.Store(record.run_config(), refusal);
    case v1::Record::kRun:
      return runs_.Store(record.run(), refusal);
    case v1::Record::kAttempt:
      return attempts_.Store(record.attempt(), now_unix_us_, refusal);
    case v1::Record::kIrGraph:
      return ir_graphs_.Store(record.ir_graph());
    case v1::Record::kReject:
      return StoreReject(record.reject(), producer_id, outcome);
    case v1::Record::KIND_NOT_SET:
      break;
  }
  return absl::InternalError("a record without a kind passed validation");
}

absl::Status BatchWriter::Refuse(const v1::Record& record, RefusedRecord refused, const std::string& producer_id,
                                 BatchOutcome& outcome) {
  v1::Reject reject;
  if (record.has_reject() && record.reject().message() == refused.message) {
    reject = record.reject();  // it contains the bytes that could not be parsed
  } else {
    reject.set_reason(refused.reason);
    reject.set_message(refused.message);
    record.SerializeToString(reject.mutable_raw());
  }
  outcome.refused.push_back(std::move(refused));
  return StoreReject(reject, producer_id, outcome);
}

absl::Status BatchWriter::StoreReject(const v1::Reject& reject, const std::string& producer_id, BatchOutcome& outcome) {
  outcome.reject_bytes += reject.ByteSizeLong();
  return rejects_.Store(reject, producer_id, now_unix_us_);
}

}  // namespace telemetry::storage::tables
