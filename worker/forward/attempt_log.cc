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

}  // namespace

absl::Status AttemptLog::Add(record::sidecar::Dialect dialect, const record::sidecar::Row& row) {
  const AttemptSplitter::Placement placement = splitter_.Place(row);
  if (placement.begins) {
    attempts_.emplace_back(origin_, row.run_id);
    attempts_.back().dialect = dialect;
    open_.push_back(placement.attempt);
  }
  Attempt& attempt = attempts_[placement.attempt];
  ++rows_;
  if (track_sources_) without_hash_[SourceKey(row)].push_back({placement.attempt, placement.seq});
  if (attempt.identity.closed()) return HandOver(attempt, placement.seq, row);

  attempt.identity.Add(row, &occurrences_);
  attempt.held.push_back({placement.seq, row});
  attempt.settled = false;
  if (!attempt.identity.closed()) return absl::OkStatus();
  open_.erase(std::find(open_.begin(), open_.end(), placement.attempt));
  absl::Status status = HandOverHeld(&attempt);
  attempt.held = {};
  return status;
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

absl::Status AttemptLog::HandOverHeld(Attempt* attempt) {
  RETURN_IF_ERROR(Announce(*attempt, attempt->held.front().row.run_id));
  for (const HeldRow& held : attempt->held) {
    RETURN_IF_ERROR(HandOver(*attempt, held.seq, held.row));
  }
  attempt->settled = true;
  return absl::OkStatus();
}

absl::Status AttemptLog::Announce(const Attempt& attempt, const std::string& run_id) {
  v1::Record record;
  v1::Attempt& out = *record.mutable_attempt();
  out.set_attempt_id(attempt.identity.attempt_id());
  out.set_run_id(run_id);
  out.set_origin(origin_);
  out.set_dialect(std::string(record::sidecar::DialectName(attempt.dialect)));
  out.set_provisional(!attempt.identity.closed());
  for (std::string& id : attempt.identity.superseded_ids()) out.add_supersedes(std::move(id));
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
