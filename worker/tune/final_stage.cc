#include "worker/tune/final_stage.h"

#include <algorithm>

#include "worker/tune/recording/statuses.h"
#include "worker/tune/row_result.h"

namespace telemetry::worker::tune {
namespace {

namespace status = recording::status;
using codegen::Config;
using recording::AttemptRow;

// Returns true if the config was measured completely. The time of a measurement that stopped early is only approximate.
bool IsContender(const AttemptRow& row) {
  return row.status == status::kOk && row.perf_ms && row.detail &&
         row.detail->stage() == v1::MeasurementDetail::STAGE_SEARCH;
}

}  // namespace

std::vector<Config> SelectFinalists(absl::Span<const AttemptRow> rows, int count, const Config& default_config) {
  std::vector<const AttemptRow*> contenders;
  for (const AttemptRow& row : rows) {
    if (IsContender(row)) contenders.push_back(&row);
  }
  std::stable_sort(contenders.begin(), contenders.end(),
                   [](const AttemptRow* a, const AttemptRow* b) { return *a->perf_ms < *b->perf_ms; });
  std::vector<Config> finalists;
  for (const AttemptRow* row : contenders) {
    const bool is_fast = finalists.size() < static_cast<size_t>(count);
    if (is_fast || row->config == default_config) finalists.push_back(row->config);
  }
  return finalists;
}

std::vector<AttemptRow> MakeFinalRows(int64_t generation, absl::Span<const CompiledCandidate> finalists,
                                      const measure::FinalOutcome& outcome) {
  std::vector<AttemptRow> rows;
  for (size_t i = 0; i < finalists.size(); ++i) {
    const Candidate& candidate = *finalists[i].candidate;
    AttemptRow& row = rows.emplace_back(
        AttemptRow{.generation = generation, .config = candidate.config, .source_hash = candidate.source_hash});
    SetMeasured(outcome.outcomes[i], v1::MeasurementDetail::STAGE_FINAL, &row);
    row.detail->set_tied_with_best(outcome.tied_with_best[i]);
  }
  return rows;
}

FinalRanking RankFinal(absl::Span<const AttemptRow> rows, const Config& default_config) {
  FinalRanking ranking;
  std::vector<const AttemptRow*> ran;
  for (const AttemptRow& row : rows) {
    if (!recording::IsOfFinal(row) || !row.perf_ms) continue;
    ran.push_back(&row);
    if (row.config == default_config) ranking.default_perf_ms = row.perf_ms;
    if (row.detail->tied_with_best()) ranking.ties.push_back(row.config);
    if (!ranking.best || *row.perf_ms < ranking.best->perf_ms) ranking.best = {row.config, *row.perf_ms};
  }
  if (ranking.best) std::erase(ranking.ties, ranking.best->config);
  std::stable_sort(ran.begin(), ran.end(),
                   [](const AttemptRow* a, const AttemptRow* b) { return *a->perf_ms < *b->perf_ms; });
  for (const AttemptRow* row : ran) {
    if (row->config != ranking.best->config) ranking.runners_up.push_back(row->config);
  }
  return ranking;
}

}  // namespace telemetry::worker::tune
