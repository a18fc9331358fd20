#include "worker/tune/final.h"

#include <algorithm>
#include <utility>

#include "worker/tune/record/statuses.h"

namespace telemetry::worker::tune {
namespace {

using codegen::Config;

// Returns true if the config was measured completely. The time of a measurement that stopped early is only approximate.
bool IsContender(const RecordedRow& row) {
  return row.status == status::kOk && row.perf_ms && row.detail &&
         row.detail->stage() == v1::MeasurementDetail::STAGE_SEARCH;
}

}  // namespace

std::vector<Config> FinalistsOf(absl::Span<const RecordedRow> rows, int count, const Config& default_config) {
  std::vector<const RecordedRow*> contenders;
  for (const RecordedRow& row : rows) {
    if (IsContender(row)) contenders.push_back(&row);
  }
  std::stable_sort(contenders.begin(), contenders.end(),
                   [](const RecordedRow* a, const RecordedRow* b) { return *a->perf_ms < *b->perf_ms; });
  std::vector<Config> finalists;
  for (const RecordedRow* row : contenders) {
    Config config(row->config);
    const bool is_fast = finalists.size() < static_cast<size_t>(count);
    if (is_fast || config == default_config) finalists.push_back(std::move(config));
  }
  return finalists;
}

std::vector<TrialResult> ResultsOf(int64_t generation, absl::Span<const CompiledCandidate> finalists,
                                   const FinalOutcome& outcome) {
  std::vector<TrialResult> results;
  for (size_t i = 0; i < finalists.size(); ++i) {
    Verdict verdict = Measured(outcome.outcomes[i], v1::MeasurementDetail::STAGE_FINAL);
    verdict.source_hash = finalists[i].candidate->source_hash;
    verdict.detail->set_tied_with_best(outcome.tied_with_best[i]);
    results.push_back({generation, finalists[i].candidate->config, std::move(verdict)});
  }
  return results;
}

FinalRanking RankingOf(absl::Span<const RecordedRow> rows, const Config& default_config) {
  FinalRanking ranking;
  for (const RecordedRow& row : rows) {
    if (!IsOfFinal(row) || !row.perf_ms) continue;
    Config config(row.config);
    if (config == default_config) ranking.default_perf_ms = row.perf_ms;
    if (row.detail->tied_with_best()) ranking.ties.push_back(config);
    if (!ranking.best || *row.perf_ms < ranking.best->perf_ms) ranking.best = {std::move(config), *row.perf_ms};
  }
  if (ranking.best) std::erase(ranking.ties, ranking.best->config);
  return ranking;
}

}  // namespace telemetry::worker::tune
