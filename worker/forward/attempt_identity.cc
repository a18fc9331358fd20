#include "worker/forward/attempt_identity.h"

#include "proto/record/ids.h"

namespace telemetry::forward {
namespace {

constexpr size_t kAttemptIdBytes = 16;
constexpr char kNul = '\0';

}  // namespace

std::string RowFingerprint(const record::SidecarRow& row) {
  record::SidecarRow bare;
  bare.run_id = row.run_id;
  bare.timestamp_s = row.timestamp_s;
  bare.config_id = row.config_id;
  bare.generation = row.generation;
  bare.status = row.status;
  bare.perf_ms = row.perf_ms;
  bare.compile_time_s = row.compile_time_s;
  std::string line;
  record::AppendRow(record::Dialect::kHelion, bare, &line);
  return line;
}

AttemptIdentity::AttemptIdentity(std::string_view origin, std::string_view run_id, uint64_t occurrence) {
  std::string seed = "autotune-telemetry attempt 1";
  seed.append(1, kNul).append(origin).append(1, kNul).append(run_id).append(1, kNul);
  links_.push_back(record::Sha256(seed + std::to_string(occurrence)));
}

void AttemptIdentity::Add(const record::SidecarRow& row) {
  if (closed_) return;
  links_.push_back(record::Sha256(links_.back() + RowFingerprint(row)));
  closed_ = row.perf_ms.has_value() || links_.size() > kMaxLinks;
}

std::string AttemptIdentity::attempt_id() const { return links_.back().substr(0, kAttemptIdBytes); }

std::vector<std::string> AttemptIdentity::superseded_ids() const {
  std::vector<std::string> ids;
  for (size_t i = 1; i + 1 < links_.size(); ++i) ids.push_back(links_[i].substr(0, kAttemptIdBytes));
  return ids;
}

}  // namespace telemetry::forward
