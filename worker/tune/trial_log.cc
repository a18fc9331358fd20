#include "worker/tune/trial_log.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "worker/tune/record/statuses.h"

namespace telemetry::worker::tune {
namespace {

RecordedRow RowOf(double timestamp_s, int64_t generation, const codegen::Config& config, Verdict verdict) {
  return {.timestamp_s = timestamp_s,
          .generation = generation,
          .config = config.json(),
          .status = std::move(verdict.status),
          .perf_ms = verdict.perf_ms,
          .compile_time_s = verdict.compile_time_s,
          .failure = std::move(verdict.failure),
          .source_hash = std::move(verdict.source_hash),
          .detail = std::move(verdict.detail)};
}

bool FailedIn(const RecordedRow& row, std::string_view phase) { return row.failure && row.failure->phase() == phase; }

void Count(const RecordedRow& row, AttemptCounters* counters) {
  if (row.status == status::kDeduplicated) ++counters->deduplicated;
  if (row.status == status::kTimeout) ++counters->timeouts;
  if (row.status == status::kFiltered || row.status == status::kDeduplicated || !row.failure) return;
  const std::string& error_class = row.failure->error_class();
  if (FailedIn(row, "generate") || FailedIn(row, "compile") || FailedIn(row, "load")) ++counters->compile_failures;
  if (FailedIn(row, "check")) ++counters->accuracy_failures;
  if (error_class == "Crash" || error_class == "IllegalAddress") ++counters->worker_failures;
}

}  // namespace

absl::Status TrialLog::Replay(std::vector<RecordedRow> rows) {
  for (RecordedRow& row : rows) {
    if (absl::Status status = recorder_.Replay(row); !status.ok()) return status;
    Remember(std::move(row));
  }
  return absl::OkStatus();
}

absl::Status TrialLog::Start(int64_t generation, const codegen::Config& config) {
  if (started_ && started_->key == Key(generation, config.id())) return absl::OkStatus();
  return Add({RowOf(Now(), generation, config, {.status = status::kStarted})});
}

absl::Status TrialLog::Finish(int64_t generation, const codegen::Config& config, Verdict verdict) {
  return Add({RowOf(Now(), generation, config, std::move(verdict))});
}

absl::Status TrialLog::FinishAll(int64_t generation, std::vector<TrialResult> results) {
  std::vector<RecordedRow> rows;
  const double now = Now();
  for (TrialResult& result : results) {
    rows.push_back(RowOf(now, generation, result.config, std::move(result.verdict)));
  }
  return Add(std::move(rows));
}

absl::Status TrialLog::Add(std::vector<RecordedRow> rows) {
  if (journal_ != nullptr) {
    if (absl::Status status = journal_->Append(rows, ActiveSeconds()); !status.ok()) return status;
  }
  for (RecordedRow& row : rows) {
    if (absl::Status status = recorder_.Row(row); !status.ok()) return status;
    Remember(std::move(row));
  }
  return absl::OkStatus();
}

void TrialLog::Remember(RecordedRow row) {
  const Key key(row.generation, codegen::Config(row.config).id());
  if (row.status == status::kStarted) {
    started_ = {key, rows_.size()};
  } else {
    results_[key] = rows_.size();
    if (started_ && started_->key == key) started_.reset();
  }
  rows_.push_back(std::move(row));
}

const RecordedRow* TrialLog::Find(int64_t generation, uint64_t config_id) const {
  const auto found = results_.find({generation, config_id});
  return found == results_.end() ? nullptr : &rows_[found->second];
}

std::optional<codegen::Config> TrialLog::Interrupted() const {
  if (!started_) return std::nullopt;
  return codegen::Config(rows_[started_->row].config);
}

double TrialLog::Now() const {
  const double since = absl::ToDoubleSeconds(absl::Now() - recorder_.info().started);
  // Clocks are set back at times; rows are not.
  return rows_.empty() ? std::max(since, 0.0) : std::max(since, rows_.back().timestamp_s);
}

double TrialLog::ActiveSeconds() const { return absl::ToDoubleSeconds(active_before_ + (absl::Now() - began_)); }

AttemptCounters TrialLog::Counters() const {
  AttemptCounters counters = {.generations = generations(), .seconds_total = ActiveSeconds()};
  std::vector<uint64_t> configs;
  for (const auto& [key, row] : results_) {
    configs.push_back(key.second);
    Count(rows_[row], &counters);
  }
  std::sort(configs.begin(), configs.end());
  counters.configs_tested = std::unique(configs.begin(), configs.end()) - configs.begin();
  return counters;
}

}  // namespace telemetry::worker::tune
