#include "worker/tune/trial_log.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "proto/base/status_macros.h"
#include "worker/tune/recording/statuses.h"

namespace telemetry::worker::tune {
namespace {

namespace status = recording::status;
using recording::AttemptRow;

bool FailedIn(const AttemptRow& row, std::string_view phase) { return row.failure && row.failure->phase() == phase; }

// A processor may begin to run a kernel before the call that launches it returns.
bool FailedWhileItRan(const AttemptRow& row) {
  return FailedIn(row, "run") || FailedIn(row, "check") ||
         (FailedIn(row, "launch") && row.failure->error_class() == "Crash");
}

void Count(const AttemptRow& row, recording::AttemptCounters* counters) {
  if (row.status == status::kDeduplicated) ++counters->deduplicated;
  if (row.status == status::kFiltered) ++counters->filtered;
  if (row.status == status::kTimeout) ++counters->timeouts;
  if (row.status == status::kFiltered || row.status == status::kDeduplicated || !row.failure) return;
  const std::string& error_class = row.failure->error_class();
  if (FailedIn(row, "generate") || FailedIn(row, "compile") || FailedIn(row, "load")) ++counters->compile_failures;
  if (FailedIn(row, "check")) ++counters->accuracy_failures;
  if (error_class == "Crash" || error_class == "IllegalAddress") ++counters->worker_failures;
}

}  // namespace

absl::Status TrialLog::Replay(std::vector<AttemptRow> rows) {
  for (AttemptRow& row : rows) {
    RETURN_IF_ERROR(recorder_.Replay(row));
    Remember(std::move(row));
  }
  return absl::OkStatus();
}

absl::Status TrialLog::Start(int64_t generation, const codegen::Config& config) {
  if (started_ && started_->config_id == config.id()) return absl::OkStatus();
  return Add({{.timestamp_s = Now(), .generation = generation, .config = config, .status = status::kStarted}});
}

absl::Status TrialLog::Finish(AttemptRow row, const Beginning* next, std::vector<AttemptRow> others) {
  std::vector<AttemptRow> rows;
  rows.push_back(std::move(row));
  std::move(others.begin(), others.end(), std::back_inserter(rows));
  if (next != nullptr) {
    rows.push_back({.generation = next->generation, .config = next->config, .status = status::kStarted});
  }
  return FinishAll(std::move(rows));
}

absl::Status TrialLog::FinishAll(std::vector<AttemptRow> rows) {
  const double now = Now();
  for (AttemptRow& row : rows) row.timestamp_s = now;
  return Add(std::move(rows));
}

absl::Status TrialLog::End(const record::Json& counters) {
  if (journal_ == nullptr) return recorder_.End(v1::Attempt::STATE_COMPLETE, counters);
  ASSIGN_OR_RETURN(const std::string said, journal_->End(record::ToJson(counters), ActiveSeconds()));
  ASSIGN_OR_RETURN(const record::Json parsed, record::ParseJson(said));
  return recorder_.End(v1::Attempt::STATE_COMPLETE, parsed);
}

absl::Status TrialLog::Add(std::vector<AttemptRow> rows) {
  if (journal_ != nullptr) {
    RETURN_IF_ERROR(journal_->Append(rows, ActiveSeconds(), learnt_));
  }
  learnt_.clear();
  RETURN_IF_ERROR(recorder_.Rows(rows));
  for (AttemptRow& row : rows) Remember(std::move(row));
  return absl::OkStatus();
}

void TrialLog::Remember(AttemptRow row) {
  const uint64_t config_id = row.config.id();
  if (row.status == status::kStarted) {
    started_ = {config_id, rows_.size()};
  } else {
    generations_ = std::max(generations_, row.generation + 1);
    if (!recording::IsOfFinal(row)) {
      results_[config_id] = rows_.size();
      result_order_.push_back(rows_.size());
    }
    if (started_ && started_->config_id == config_id) started_.reset();
  }
  rows_.push_back(std::move(row));
}

const AttemptRow* TrialLog::Find(uint64_t config_id) const {
  const auto found = results_.find(config_id);
  return found == results_.end() ? nullptr : &rows_[found->second];
}

std::optional<codegen::Config> TrialLog::Interrupted() const {
  if (!started_) return std::nullopt;
  return rows_[started_->row].config;
}

double TrialLog::Now() const {
  const double since = absl::ToDoubleSeconds(since_start_ + ElapsedSince(began_));
  // The wall clock may have been set back since the last process ran. The timestamps of rows never decrease.
  return rows_.empty() ? std::max(since, 0.0) : std::max(since, rows_.back().timestamp_s);
}

double TrialLog::ActiveSeconds() const { return absl::ToDoubleSeconds(active_before_ + ElapsedSince(began_)); }

recording::AttemptCounters TrialLog::Counters() const {
  recording::AttemptCounters counters = {.generations = generations(), .seconds_total = ActiveSeconds()};
  counters.configs_tested = static_cast<int64_t>(results_.size());
  for (const AttemptRow& row : rows_) {
    if (row.status != status::kStarted) Count(row, &counters);
  }
  return counters;
}

std::vector<uint64_t> TrialLog::FailedRuns() const {
  std::vector<uint64_t> failed;
  for (const size_t index : result_order_) {
    const AttemptRow& row = rows_[index];
    const bool has_failed = row.status == status::kError || row.status == status::kTimeout;
    if (has_failed && FailedWhileItRan(row)) failed.push_back(row.config.id());
  }
  return failed;
}

}  // namespace telemetry::worker::tune
