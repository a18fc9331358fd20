#include "server/web/rows/measured_config.h"

#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "proto/base/status_macros.h"

namespace telemetry::web::rows {
namespace {

// The order in which rows are preferred; less is better.
int Preference(StatusKind kind, Stage stage, bool has_time) {
  if (kind == StatusKind::kNoResult) return 4;
  if (kind == StatusKind::kFailed || !has_time) return 3;
  if (stage == Stage::kFinal) return 0;
  return stage == Stage::kScreening ? 2 : 1;
}

// Collects the results of an attempt.
class Collector {
 public:
  Collector(int32_t attempt, std::vector<MeasuredConfig>* configs) : attempt_(attempt), configs_(*configs) {}

  void Add(const Row& row, StatusKind kind) {
    const auto [found, is_new] = index_.emplace(row.config, configs_.size());
    if (is_new) {
      configs_.push_back({.config = row.config, .attempt = attempt_});
    } else if (!IsBetter(row, kind, configs_[found->second])) {
      KeepCompileTime(row, &configs_[found->second]);
      return;
    }
    MeasuredConfig& result = configs_[found->second];
    result.seq = row.seq;
    result.status = row.status;
    result.kind = kind;
    result.stage = row.stage;
    result.perf_ms = row.perf_ms;
    KeepCompileTime(row, &result);
  }

 private:
  static bool IsBetter(const Row& row, StatusKind kind, const MeasuredConfig& known) {
    const int now = Preference(kind, row.stage, row.perf_ms.has_value());
    const int before = Preference(known.kind, known.stage, known.perf_ms.has_value());
    if (now != before) return now < before;
    return now >= 3 || *row.perf_ms < *known.perf_ms;
  }

  // A config is compiled once; its final row has no compile time.
  static void KeepCompileTime(const Row& row, MeasuredConfig* result) {
    if (row.compile_time_s.has_value() && !result->compile_time_s.has_value()) {
      result->compile_time_s = row.compile_time_s;
    }
  }

  const int32_t attempt_;
  std::vector<MeasuredConfig>& configs_;
  absl::flat_hash_map<int64_t, size_t> index_;
};

}  // namespace

absl::StatusOr<MeasuredConfigs> ReadMeasuredConfigs(storage::sql::Database& dataset,
                                                    absl::Span<const storage::sql::AttemptKey> attempts,
                                                    int64_t most_rows) {
  StatusTable statuses(dataset);
  RETURN_IF_ERROR(statuses.Refresh());
  RowCursor cursor(dataset, RowCursor::Failures::kSkip);
  MeasuredConfigs measured;
  int64_t rows = 0;
  for (size_t i = 0; i < attempts.size(); ++i) {
    Collector collector(static_cast<int32_t>(i), &measured.configs);
    cursor.Begin(attempts[i]);
    while (true) {
      ASSIGN_OR_RETURN(const bool found, cursor.Next());
      if (!found) break;
      if (++rows > most_rows) {
        measured.is_cut = true;
        cursor.End();
        return measured;
      }
      collector.Add(cursor.row(), statuses.Kind(cursor.row().status));
    }
  }
  return measured;
}

}  // namespace telemetry::web::rows
