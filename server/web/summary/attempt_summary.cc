#include "server/web/summary/attempt_summary.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "proto/base/status_macros.h"
#include "proto/statistics/samples.h"

namespace telemetry::web::summary {
namespace {

using rows::Row;
using rows::Stage;
using rows::StatusKind;
using storage::sql::AttemptKey;
using storage::sql::InRun;
using storage::sql::kInRun;

// Beyond this number, configs of an attempt are counted again whenever they recur, to bound the memory.
constexpr size_t kMostConfigs = size_t{1} << 20;

// Follows the rows of an attempt in their order.
class Accumulator {
 public:
  explicit Accumulator(AttemptSummary* summary) : summary_(*summary) {}

  void Add(const Row& row, StatusKind kind) {
    ++summary_.row_count;
    summary_.max_seq = std::max(summary_.max_seq, row.seq);
    summary_.duration_s = std::max(summary_.duration_s.value_or(0), row.timestamp_s);
    summary_.generation = std::max(summary_.generation.value_or(0), row.generation);
    if (row.compile_time_s.has_value()) summary_.compile_s = summary_.compile_s.value_or(0) + *row.compile_time_s;
    if (kind == StatusKind::kNoResult) return;
    if (kind == StatusKind::kFailed && IsNew(row.config, &failed_)) ++summary_.failed;
    if (IsNew(row.config, &configs_)) ++summary_.configs;
    if (first_config_ == 0) first_config_ = row.config;
    const bool has_time = kind == StatusKind::kOk && row.perf_ms.has_value() && *row.perf_ms > 0;
    if (has_time && row.stage != Stage::kScreening) AddTime(row);
  }

 private:
  static bool IsNew(int64_t config, absl::flat_hash_set<int64_t>* seen) {
    return seen->size() >= kMostConfigs ? !seen->contains(config) : seen->insert(config).second;
  }

  void AddTime(const Row& row) {
    const double ms = *row.perf_ms;
    const Rank rank = row.stage == Stage::kFinal ? Rank::kFinal : Rank::kSearch;
    if (row.config == first_config_ && IsBetter(rank, ms, default_rank_, summary_.default_ms)) {
      default_rank_ = rank;
      summary_.default_ms = ms;
    }
    if (rank == Rank::kSearch && row.seq < rows::kFirstTraceSeq && ms < searched_ms_.value_or(ms + 1)) {
      searched_ms_ = ms;
      summary_.improved_s = row.timestamp_s;
      summary_.improved_config = summary_.configs;
    }
    if (!IsBetter(rank, ms, summary_.best_rank, summary_.best_ms)) return;
    summary_.best_ms = ms;
    summary_.best_rank = rank;
    summary_.best_seq = row.seq;
    summary_.best_stage = row.stage;
    summary_.best_config = row.config;
  }

  static bool IsBetter(Rank rank, double ms, Rank best_rank, const std::optional<double>& best_ms) {
    if (!best_ms.has_value() || rank != best_rank) return !best_ms.has_value() || rank < best_rank;
    return ms < *best_ms;
  }

  AttemptSummary& summary_;
  absl::flat_hash_set<int64_t> configs_;
  absl::flat_hash_set<int64_t> failed_;
  int64_t first_config_ = 0;
  Rank default_rank_ = Rank::kSearch;
  std::optional<double> searched_ms_;
};

}  // namespace

AttemptSummariser::AttemptSummariser(storage::sql::Database& dataset)
    : statuses_(dataset),
      rows_(dataset, rows::RowCursor::Failures::kSkip),
      count_rows_(
          dataset,
          {.text = "SELECT count(*), coalesce(max(seq), 0) FROM measurements", .key = kInRun, .where = "attempt = ?1"}),
      count_details_(dataset,
                     {.text = "SELECT count(*) FROM measurement_details", .key = kInRun, .where = "attempt = ?1"}),
      samples_(dataset, {.text = "SELECT samples_ms_json FROM measurement_details",
                         .key = kInRun,
                         .where = "attempt = ?1 AND seq = ?2"}) {}

absl::StatusOr<AttemptSize> AttemptSummariser::Measure(const AttemptKey& key) {
  AttemptSize size;
  RETURN_IF_ERROR(count_rows_.Bind(InRun{key.run}, key.attempt).Step().status());
  size.row_count = count_rows_.Int(0);
  size.max_seq = count_rows_.Int(1);
  count_rows_.Reset();
  RETURN_IF_ERROR(count_details_.Bind(InRun{key.run}, key.attempt).Step().status());
  size.detail_count = count_details_.Int(0);
  count_details_.Reset();
  return size;
}

absl::StatusOr<AttemptSummary> AttemptSummariser::Summarise(const AttemptKey& key) {
  RETURN_IF_ERROR(statuses_.Refresh());
  AttemptSummary summary;
  Accumulator accumulator(&summary);
  rows_.Begin(key);
  while (true) {
    ASSIGN_OR_RETURN(const bool found, rows_.Next());
    if (!found) break;
    accumulator.Add(rows_.row(), statuses_.Kind(rows_.row().status));
  }
  RETURN_IF_ERROR(count_details_.Bind(InRun{key.run}, key.attempt).Step().status());
  summary.detail_count = count_details_.Int(0);
  count_details_.Reset();
  RETURN_IF_ERROR(AddNoise(key, &summary));
  return summary;
}

absl::Status AttemptSummariser::AddNoise(const AttemptKey& key, AttemptSummary* summary) {
  if (!summary->best_ms.has_value() || summary->detail_count == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(const bool found, samples_.Bind(InRun{key.run}, key.attempt, summary->best_seq).Step());
  if (!found) return absl::OkStatus();
  constexpr size_t kMostSamples = 10000;
  summary->noise = statistics::RelativeSpread(statistics::ParseSamples(samples_.Text(0), kMostSamples));
  samples_.Reset();
  return absl::OkStatus();
}

}  // namespace telemetry::web::summary
