#include "server/storage/sqlite_writer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/storage/dataset_file.h"
#include "server/storage/validate.h"
#include "server/storage/wal_scan.h"

namespace telemetry::storage {

absl::StatusOr<std::unique_ptr<StoreWriter>> OpenSqliteWriter(const std::string& path, const WriterOptions& options) {
  absl::StatusOr<LockFile> lock = LockFile::Acquire(path);
  if (!lock.ok()) return lock.status();
  absl::StatusOr<Database> database = OpenDatasetForWriting(path, options);
  if (!database.ok()) return database.status();
  std::string dataset_id;
  {
    Statement read(*database, "SELECT dataset_id FROM dataset");
    absl::StatusOr<bool> row = read.Step();
    if (!row.ok()) return row.status();
    dataset_id = read.Bytes(0);
  }
  const absl::StatusOr<std::string> real_path = RealPath(path);
  if (!real_path.ok()) return real_path.status();
  absl::StatusOr<AckedMarkFile> mark = AckedMarkFile::Open(*real_path);
  if (!mark.ok()) return mark.status();
  const absl::StatusOr<int64_t> acked = database->QueryInt("SELECT ifnull(sum(committed_seq), 0) FROM producers");
  if (!acked.ok()) return acked.status();
  const absl::StatusOr<uint32_t> padding = PaddingFrames(*database);
  if (!padding.ok()) return padding.status();
  return std::make_unique<SqliteWriter>(*std::move(lock), *std::move(mark), *std::move(database), std::move(dataset_id),
                                        static_cast<uint64_t>(*acked), *padding, options);
}

SqliteWriter::SqliteWriter(LockFile lock, AckedMarkFile mark, Database database, std::string dataset_id,
                           uint64_t acked_records, uint32_t padding_frames, const WriterOptions& options)
    : lock_(std::move(lock)),
      mark_(std::move(mark)),
      database_(std::move(database)),
      dataset_id_(std::move(dataset_id)),
      padding_frames_(padding_frames),
      acked_records_(acked_records),
      clock_(options.clock),
      senders_(database_),
      producers_(database_),
      runs_(database_),
      attempts_(database_, runs_, sender_),
      configs_(database_, runs_, sender_),
      measurements_(database_, attempts_, configs_),
      details_(database_, attempts_),
      ir_graphs_(database_, runs_, sender_),
      rejects_(database_),
      checkpointer_(database_, options.checkpoint_pages, options.reader_patience) {}

absl::Status SqliteWriter::Fail(absl::Status status) {
  senders_.Forget();
  producers_.Forget();
  runs_.Forget();
  attempts_.Forget();
  configs_.Forget();
  measurements_.Forget();
  failed_ = std::move(status);
  return failed_;
}

absl::StatusOr<std::vector<absl::StatusOr<uint64_t>>> SqliteWriter::OpenProducers(
    absl::Span<const ProducerOpening> openings) {
  if (!failed_.ok()) return failed_;
  absl::StatusOr<std::vector<absl::StatusOr<uint64_t>>> results = TryOpen(openings);
  if (!results.ok()) return Fail(results.status());
  return results;
}

absl::StatusOr<std::vector<absl::StatusOr<uint64_t>>> SqliteWriter::TryOpen(
    absl::Span<const ProducerOpening> openings) {
  const int64_t now_unix_us = absl::ToUnixMicros(clock_());
  std::vector<absl::StatusOr<uint64_t>> results;
  std::optional<Transaction> transaction;
  for (const ProducerOpening& opening : openings) {
    absl::StatusOr<ProducerTable::Producer*> known = producers_.Find(opening.producer_id);
    if (!known.ok()) return known.status();
    absl::StatusOr<bool> somebody_elses = IsSomebodyElses(*known, opening);
    if (!somebody_elses.ok()) return somebody_elses.status();
    if (*somebody_elses) {
      results.emplace_back(absl::PermissionDeniedError(
          "the producer belongs to another sender: use a token with the name that it was first opened with"));
      continue;
    }
    if (ProducerTable::IsOpen(*known, opening)) {
      results.emplace_back((*known)->committed_seq);
      continue;
    }
    if (!transaction) {
      absl::StatusOr<Transaction> begun = Transaction::BeginWrite(database_);
      if (!begun.ok()) return begun.status();
      transaction.emplace(*std::move(begun));
    }
    absl::StatusOr<int64_t> sender = senders_.KeyOf(opening.sender);
    if (!sender.ok()) return sender.status();
    results.push_back(producers_.Open(opening.producer_id, opening.epoch, opening.client, *sender, now_unix_us));
    const absl::Status& status = results.back().status();
    if (!status.ok() && !absl::IsFailedPrecondition(status)) return status;
  }
  if (transaction) {
    if (absl::Status status = transaction->Commit(); !status.ok()) return status;
  }
  return results;
}

absl::StatusOr<bool> SqliteWriter::IsSomebodyElses(const ProducerTable::Producer* producer,
                                                   const ProducerOpening& opening) {
  if (producer == nullptr || producer->sender == 0 || opening.sender.empty()) return false;
  absl::StatusOr<int64_t> sender = senders_.Find(opening.sender);
  if (!sender.ok()) return sender.status();
  return *sender != producer->sender;
}

absl::StatusOr<std::vector<BatchOutcome>> SqliteWriter::CommitBatches(absl::Span<const ProducerBatch> batches) {
  if (!failed_.ok()) return failed_;
  absl::StatusOr<std::vector<BatchOutcome>> outcomes = TryCommit(batches);
  if (!outcomes.ok()) return Fail(outcomes.status());
  return outcomes;
}

absl::StatusOr<std::vector<BatchOutcome>> SqliteWriter::TryCommit(absl::Span<const ProducerBatch> batches) {
  absl::StatusOr<Transaction> transaction = Transaction::BeginWrite(database_);
  if (!transaction.ok()) return transaction.status();
  now_unix_us_ = absl::ToUnixMicros(clock_());
  std::vector<BatchOutcome> outcomes(batches.size());
  for (size_t i = 0; i < batches.size(); ++i) {
    if (absl::Status status = Store(batches[i], outcomes[i]); !status.ok()) return status;
  }
  if (absl::Status status = producers_.Save(); !status.ok()) return status;
  if (absl::Status status = transaction->Commit(); !status.ok()) return status;
  for (size_t i = 0; i < batches.size(); ++i) {
    if (outcomes[i].status.ok()) acked_records_ += batches[i].records.size() - outcomes[i].skipped;
  }
  if (absl::Status status = WriteMark(); !status.ok()) return status;
  if (absl::Status status = checkpointer_.AfterCommit(); !status.ok()) return status;
  return outcomes;
}

absl::Status SqliteWriter::WriteMark() {
  const absl::StatusOr<uint64_t> salts = ReadWalSalts(database_);
  if (!salts.ok()) return salts.status();
  const auto frames = static_cast<uint32_t>(checkpointer_.log_pages());
  return mark_.Store({.dataset_id = dataset_id_,
                      .records = acked_records_,
                      .log_salts = *salts,
                      .log_frames = frames - std::min(frames, padding_frames_)});
}

absl::Status SqliteWriter::Idle() {
  if (!failed_.ok()) return failed_;
  absl::Status status = checkpointer_.Idle();
  return status.ok() ? status : Fail(status);
}

absl::Status SqliteWriter::Store(const ProducerBatch& batch, BatchOutcome& outcome) {
  absl::StatusOr<ProducerTable::Producer*> producer = producers_.Find(batch.producer_id);
  if (!producer.ok()) return producer.status();
  if (*producer == nullptr) {
    outcome.status = absl::FailedPreconditionError("the producer has not been opened");
    return absl::OkStatus();
  }
  const uint64_t committed_seq = (*producer)->committed_seq;
  outcome.committed_seq = committed_seq;
  outcome.status = ProducerTable::CheckEpoch(**producer, batch.epoch);
  if (!outcome.status.ok()) return absl::OkStatus();
  if (batch.first_seq > committed_seq + 1) {
    outcome.status = absl::OutOfRangeError(
        absl::StrCat("the log has a gap: expected sequence number ", committed_seq + 1, ", got ", batch.first_seq));
    return absl::OkStatus();
  }
  const uint64_t end = batch.first_seq + batch.records.size();
  outcome.skipped = std::min<uint64_t>(committed_seq + 1 - batch.first_seq, batch.records.size());
  if (end <= committed_seq + 1) return absl::OkStatus();
  sender_.Set((*producer)->sender);
  if (absl::Status status = StoreNew(batch, committed_seq + 1, outcome); !status.ok()) return status;
  ProducerTable::Advance(**producer, end - 1);
  outcome.committed_seq = end - 1;
  return absl::OkStatus();
}

absl::Status SqliteWriter::StoreNew(const ProducerBatch& batch, uint64_t first_new_seq, BatchOutcome& outcome) {
  auto refused = batch.refused.begin();
  for (uint64_t seq = first_new_seq; seq < batch.first_seq + batch.records.size(); ++seq) {
    const v1::Record& record = *batch.records[seq - batch.first_seq];
    while (refused != batch.refused.end() && refused->seq < seq) ++refused;
    absl::Status status;
    MaybeRefusal refusal;
    if (refused != batch.refused.end() && refused->seq == seq) {
      status = Refuse(record, *refused, batch.producer_id, outcome);
    } else {
      if (!batch.validated) refusal = Validate(record);
      if (!refusal) status = Store(record, batch.producer_id, refusal);
    }
    if (status.ok() && refusal) {
      RefusedRecord found{.seq = seq, .reason = refusal->reason, .message = std::move(refusal->message)};
      status = Refuse(record, std::move(found), batch.producer_id, outcome);
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status SqliteWriter::Store(const v1::Record& record, const std::string& producer_id, MaybeRefusal& refusal) {
  switch (record.kind_case()) {
    case v1::Record::kMeasurement:
      return measurements_.Store(record.measurement(), refusal);
    case v1::Record::kSourceHash:
      return measurements_.Store(record.source_hash(), refusal);
    case v1::Record::kMeasurementDetail:
      return details_.Store(record.measurement_detail(), refusal);
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
      return rejects_.Store(record.reject(), producer_id, now_unix_us_);
    case v1::Record::KIND_NOT_SET:
      break;
  }
  return absl::InternalError("a record without a kind was taken for valid");
}

absl::Status SqliteWriter::Refuse(const v1::Record& record, RefusedRecord refused, const std::string& producer_id,
                                  BatchOutcome& outcome) {
  v1::Reject reject;
  if (record.has_reject()) {
    reject = record.reject();  // it holds the bytes that did not parse
  } else {
    reject.set_reason(refused.reason);
    reject.set_message(refused.message);
    record.SerializeToString(reject.mutable_raw());
  }
  outcome.refused.push_back(std::move(refused));
  return rejects_.Store(reject, producer_id, now_unix_us_);
}

}  // namespace telemetry::storage
