#include "worker/forward/attempt_splitter.h"

#include <algorithm>
#include <utility>

namespace telemetry::worker::forward {
namespace {

bool IsStart(const record::sidecar::Row& row) { return row.status == "started"; }

}  // namespace

std::optional<AttemptSplitter::Fit> AttemptSplitter::ComputeFit(const Attempt& attempt,
                                                                const record::sidecar::Row& row) {
  if (row.timestamp_s < attempt.last_timestamp_s) return std::nullopt;
  if (row.config_index.has_value() && *row.config_index <= attempt.last_seq) return std::nullopt;

  const bool counts_on = row.config_index.has_value() && *row.config_index == attempt.last_seq + 1;
  bool is_result = false;
  for (const auto& [config, compile_time_s] : attempt.running) {
    if (config == row.config_id && compile_time_s == row.compile_time_s) is_result = true;
  }
  // With config_index, only the count decides about a new attempt; a gap in it is a lost row.
  if (IsStart(row) && !row.config_index.has_value()) {
    const bool started_before = attempt.started.contains({row.generation, *row.config_id});
    if (started_before || !attempt.running.empty()) return std::nullopt;
  }
  const bool in_order = IsStart(row) ? attempt.running.empty() : is_result;
  return Fit{static_cast<double>(counts_on), static_cast<double>(in_order),
             static_cast<double>(row.generation >= attempt.last_generation), attempt.last_timestamp_s};
}

void AttemptSplitter::Advance(const record::sidecar::Row& row, uint64_t seq, Attempt* attempt) {
  attempt->last_timestamp_s = row.timestamp_s;
  attempt->last_seq = seq;
  attempt->last_generation = row.generation;
  if (IsStart(row)) {
    attempt->running.emplace_back(*row.config_id, row.compile_time_s);
    attempt->started.insert({row.generation, *row.config_id});
    return;
  }
  const auto running = std::find_if(attempt->running.begin(), attempt->running.end(), [&](const auto& config_and_time) {
    return config_and_time.first == *row.config_id;
  });
  if (running != attempt->running.end()) attempt->running.erase(running);
}

AttemptSplitter::Placement AttemptSplitter::Place(const record::sidecar::Row& row) {
  std::vector<Attempt>& attempts = by_run_[row.run_id];
  Attempt* best = nullptr;
  Fit best_fit;
  for (Attempt& attempt : attempts) {
    std::optional<Fit> fit = ComputeFit(attempt, row);
    // Among equals, the younger attempt is chosen, because its process is more likely to be alive.
    if (fit.has_value() && (best == nullptr || *fit >= best_fit)) {
      best = &attempt;
      best_fit = *std::move(fit);
    }
  }
  const bool begins = best == nullptr;
  if (begins) {
    best = &attempts.emplace_back();
    best->number = attempts_++;
  }
  const uint64_t seq = row.config_index.value_or(best->last_seq + 1);
  Advance(row, seq, best);
  return {.attempt = best->number, .seq = seq, .begins = begins};
}

}  // namespace telemetry::worker::forward
