#include "worker/forward/attempt_log.h"

#include <algorithm>

#include "proto/base/status_macros.h"

namespace telemetry::worker::forward {
namespace {

// Returns the fields that a row of .sources.csv and its row of .csv have in common.
std::string SourceKey(const record::sidecar::Row& row) {
  record::sidecar::Row key;
  key.run_id = row.run_id;
  key.timestamp_s = row.timestamp_s;
  key.config_id = row.config_id;
  key.generation = row.generation;
  key.status = row.status;
  return RowFingerprint(key);
}

void SetAttemptId(const std::string& attempt_id, v1::Record* record) {
  if (record->has_measurement()) record->mutable_measurement()->set_attempt_id(attempt_id);
  if (record->has_measurement_detail()) record->mutable_measurement_detail()->set_attempt_id(attempt_id);
  if (record->has_attempt_event()) record->mutable_attempt_event()->set_attempt_id(attempt_id);
}

}  // namespace

void AttemptDescription::SetFields(v1::Attempt* attempt) const {
  if (started_unix_us.has_value()) attempt->set_started_unix_us(*started_unix_us);
  if (!search_algorithm.empty()) attempt->set_search_algorithm(search_algorithm);
  attempt->set_state(state);
}

absl::Status AttemptLog::Add(record::sidecar::Dialect dialect, const record::sidecar::Row& row) {
  const AttemptSplitter::Placement placement = splitter_.Place(row);
  if (placement.begins) {
    attempts_.emplace_back(origin_, row.run_id);
    attempts_.back().dialect = dialect;
    open_.push_back(placement.attempt);
  }
  Attempt& attempt = attempts_[placement.attempt];
  ++rows_;
  if (index_ != nullptr) index_->Add(row, placement);
  if (track_sources_) without_hash_[SourceKey(row)].push_back({placement.attempt, placement.seq});
  if (attempt.identity.closed()) return HandOver(attempt, placement.seq, row);
  if (settled_finally_) return absl::AbortedError("a row came after the end");

  attempt.identity.Add(row, &occurrences_);
  attempt.held.push_back({placement.seq, row});
  attempt.settled = false;
  if (!attempt.identity.closed()) return absl::OkStatus();
  open_.erase(std::find(open_.begin(), open_.end(), placement.attempt));
  absl::Status status = HandOverHeld(&attempt);
  attempt.held = {};
  ReleaseRecords(&attempt);
  return status;
}

absl::Status AttemptLog::Emit(size_t number, v1::Record record) {
  Attempt& attempt = attempts_[number];
  if (attempt.identity.closed() || settled_finally_) return HandOverRecord(attempt, &record);
  held_bytes_ += record.SpaceUsedLong();
  attempt.held_records.push_back(std::move(record));
  attempt.settled = false;
  return absl::OkStatus();
}

absl::Status AttemptLog::Describe(size_t number, AttemptDescription description) {
  Attempt& attempt = attempts_[number];
  attempt.description = std::move(description);
  if (attempt.identity.closed() || settled_finally_) return Announce(attempt);
  attempt.settled = false;
  return absl::OkStatus();
}

absl::StatusOr<bool> AttemptLog::AddSourceHash(const record::sidecar::Row& source_row) {
  const auto rows = without_hash_.find(SourceKey(source_row));
  if (rows == without_hash_.end()) return false;
  const PlacedRow placed = rows->second.front();
  rows->second.pop_front();
  if (rows->second.empty()) without_hash_.erase(rows);

  Attempt& attempt = attempts_[placed.attempt];
  if (attempt.identity.closed()) {
    absl::Status status = HandOverHash(attempt, placed.seq, source_row.source_hash);
    return status.ok() ? absl::StatusOr<bool>(true) : status;
  }
  for (HeldRow& held : attempt.held) {
    if (held.seq == placed.seq) held.row.source_hash = source_row.source_hash;
  }
  attempt.settled = false;
  return true;
}

absl::Status AttemptLog::Settle() {
  for (size_t number : open_) {
    if (attempts_[number].settled) continue;
    RETURN_IF_ERROR(HandOverHeld(&attempts_[number]));
  }
  return absl::OkStatus();
}

absl::Status AttemptLog::SettleFinally() {
  RETURN_IF_ERROR(Settle());
  settled_finally_ = true;
  for (size_t number : open_) ReleaseRecords(&attempts_[number]);
  return absl::OkStatus();
}

void AttemptLog::ReleaseRecords(Attempt* attempt) {
  for (const v1::Record& record : attempt->held_records) held_bytes_ -= record.SpaceUsedLong();
  attempt->held_records = {};
}

absl::Status AttemptLog::HandOverHeld(Attempt* attempt) {
  RETURN_IF_ERROR(Announce(*attempt));
  for (const HeldRow& held : attempt->held) {
    RETURN_IF_ERROR(HandOver(*attempt, held.seq, held.row));
  }
  for (const v1::Record& held : attempt->held_records) {
    v1::Record record = held;
    RETURN_IF_ERROR(HandOverRecord(*attempt, &record));
  }
  attempt->settled = true;
  return absl::OkStatus();
}

absl::Status AttemptLog::HandOverRecord(const Attempt& attempt, v1::Record* record) {
  SetAttemptId(attempt.identity.attempt_id(), record);
  return sink_(*record);
}

absl::Status AttemptLog::Announce(const Attempt& attempt) {
  v1::Record record;
  v1::Attempt& out = *record.mutable_attempt();
  out.set_attempt_id(attempt.identity.attempt_id());
  out.set_run_id(attempt.run_id);
  out.set_origin(origin_);
  out.set_dialect(std::string(record::sidecar::DialectName(attempt.dialect)));
  out.set_provisional(!attempt.identity.closed());
  for (std::string& id : attempt.identity.superseded_ids()) out.add_supersedes(std::move(id));
  if (attempt.description.has_value()) {
    out.add_supersedes(attempt.description->superseded_id);
    attempt.description->SetFields(&out);
  }
  return sink_(record);
}

absl::Status AttemptLog::HandOver(const Attempt& attempt, uint64_t seq, const record::sidecar::Row& row) {
  v1::Record record;
  v1::Measurement& out = *record.mutable_measurement();
  out.set_attempt_id(attempt.identity.attempt_id());
  out.set_seq(seq);
  out.set_timestamp_s(row.timestamp_s);
  out.set_generation(row.generation);
  out.set_status(row.status);
  if (row.perf_ms.has_value()) out.set_perf_ms(*row.perf_ms);
  if (row.compile_time_s.has_value()) out.set_compile_time_s(*row.compile_time_s);
  out.set_config_id(*row.config_id);
  if (absl::Status status = sink_(record); !status.ok() || row.source_hash.empty()) return status;
  return HandOverHash(attempt, seq, row.source_hash);
}

absl::Status AttemptLog::HandOverHash(const Attempt& attempt, uint64_t seq, const std::string& source_hash) {
  v1::Record record;
  v1::SourceHash& hash = *record.mutable_source_hash();
  hash.set_attempt_id(attempt.identity.attempt_id());
  hash.set_seq(seq);
  hash.set_source_hash(source_hash);
  return sink_(record);
}

}  // namespace telemetry::worker::forward
