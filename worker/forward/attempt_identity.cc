#include "worker/forward/attempt_identity.h"

#include "proto/record/ids.h"

namespace telemetry::worker::forward {
namespace {

constexpr char kNul = '\0';

}  // namespace

std::string RowFingerprint(const record::sidecar::Row& row) {
  record::sidecar::Row bare;
  bare.run_id = row.run_id;
  bare.timestamp_s = row.timestamp_s;
  bare.config_id = row.config_id;
  bare.generation = row.generation;
  bare.status = row.status;
  bare.perf_ms = row.perf_ms;
  bare.compile_time_s = row.compile_time_s;
  std::string line;
  record::sidecar::AppendRow(record::sidecar::Dialect::kHelion, bare, &line);
  return line;
}

AttemptIdentity::AttemptIdentity(std::string_view origin, std::string_view run_id) {
  std::string seed = "autotune-telemetry attempt 1";
  seed.append(1, kNul).append(origin).append(1, kNul).append(run_id);
  link_ = record::Sha256(seed);
}

void AttemptIdentity::Add(const record::sidecar::Row& row, Occurrences* occurrences) {
  if (closed_) return;
  link_ = record::Sha256(link_ + RowFingerprint(row));
  const uint64_t occurrence = (*occurrences)[link_]++;
  ids_.push_back(record::Sha256(link_ + kNul + std::to_string(occurrence)).substr(0, record::kAttemptIdBytes));
  if (row.perf_ms.has_value()) ++measured_rows_;
  closed_ = measured_rows_ == kMeasuredRows || ids_.size() == kMaxLinks;
}

std::vector<std::string> AttemptIdentity::superseded_ids() const { return {ids_.begin(), ids_.end() - 1}; }

}  // namespace telemetry::worker::forward
