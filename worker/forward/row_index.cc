#include "worker/forward/row_index.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "absl/hash/hash.h"
#include "proto/record/numbers.h"

namespace telemetry::worker::forward {
namespace {

OutcomeKey KeyOf(uint64_t config_id, int64_t generation, std::string_view status, std::optional<double> perf_ms,
                 std::optional<double> compile_time_s) {
  std::string times;
  if (perf_ms.has_value()) record::AppendFixed(*perf_ms, 6, &times);
  times.push_back(',');
  if (compile_time_s.has_value()) record::AppendFixed(*compile_time_s, 2, &times);
  return absl::HashOf(config_id, generation, status, times);
}

}  // namespace

OutcomeKey KeyOfRow(const record::sidecar::Row& row) {
  return KeyOf(*row.config_id, row.generation, row.status, row.perf_ms, row.compile_time_s);
}

OutcomeKey KeyOfTrial(const record::sidecar::TraceTrial& trial) {
  return KeyOf(trial.config_id, trial.generation, trial.status, trial.perf_ms, trial.compile_time_s);
}

void RowIndex::Add(const record::sidecar::Row& row, const AttemptSplitter::Placement& placement) {
  ++rows_;
  const OutcomeKey key = KeyOfRow(row);
  keys_.insert(key);
  if (placement.attempt >= attempts_.size()) attempts_.resize(placement.attempt + 1);
  Attempt& attempt = attempts_[placement.attempt];
  if (placement.begins) {
    attempt.run = runs_.try_emplace(row.run_id, runs_.size()).first->second;
    beginnings_[key].push_back(placement.attempt);
  }
  if (attempt.first_rows.size() < kFirstRows) {
    attempt.first_rows.push_back({.key = key, .at_s = row.timestamp_s, .is_measured = row.perf_ms.has_value()});
  }
  rows_of_attempt_[{placement.attempt, key}].push_back({.seq = placement.seq, .timestamp_s = row.timestamp_s});
}

std::optional<uint64_t> RowIndex::Take(size_t attempt, OutcomeKey key, double at_s) {
  const auto found = rows_of_attempt_.find({attempt, key});
  if (found == rows_of_attempt_.end()) return std::nullopt;
  std::vector<Row>& rows = found->second;
  const auto apart_s = [at_s](const Row& row) { return std::abs(row.timestamp_s - at_s); };
  const auto nearest =
      std::min_element(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return apart_s(a) < apart_s(b); });
  if (apart_s(*nearest) > kToleranceS) return std::nullopt;
  const uint64_t seq = nearest->seq;
  rows.erase(nearest);
  if (rows.empty()) rows_of_attempt_.erase(found);
  return seq;
}

std::vector<size_t> RowIndex::Beginnings(OutcomeKey key, double latest_s, std::optional<size_t> same_run_as) const {
  std::vector<size_t> attempts;
  const auto found = beginnings_.find(key);
  if (found == beginnings_.end()) return attempts;
  std::copy_if(found->second.begin(), found->second.end(), std::back_inserter(attempts), [&](size_t number) {
    const Attempt& attempt = attempts_[number];
    const bool is_free = !attempt.is_claimed && attempt.first_rows.front().at_s <= latest_s;
    return is_free && (!same_run_as.has_value() || attempt.run == attempts_[*same_run_as].run);
  });
  return attempts;
}

}  // namespace telemetry::worker::forward
