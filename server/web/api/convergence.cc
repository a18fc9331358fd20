#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "proto/base/status_macros.h"
#include "server/web/api/common.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/run_scope.h"
#include "server/web/rows/row_cursor.h"
#include "server/web/rows/status_table.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using rows::Row;
using rows::Stage;
using rows::StatusKind;

// The best time so far of a search: one element for each improvement.
struct Curve {
  std::vector<int64_t> configs;
  std::vector<double> seconds;
  std::vector<double> best_ms;
  std::vector<int64_t> seq;
  int64_t total_configs = 0;
  std::optional<double> total_seconds;
};

// Follows the search of an attempt: rows that are not final, in the order of the CSV.
class CurveBuilder {
 public:
  void Add(const Row& row, StatusKind kind) {
    if (row.seq >= rows::kFirstTraceSeq) return;
    curve_.total_seconds = std::max(curve_.total_seconds.value_or(0), row.timestamp_s);
    if (kind == StatusKind::kNoResult || row.stage == Stage::kFinal) return;
    if (configs_.insert(row.config).second) ++curve_.total_configs;
    const bool counts = kind == StatusKind::kOk && row.perf_ms.has_value() && row.stage != Stage::kScreening;
    if (!counts || *row.perf_ms >= best_ms_) return;
    best_ms_ = *row.perf_ms;
    curve_.configs.push_back(curve_.total_configs);
    curve_.seconds.push_back(row.timestamp_s);
    curve_.best_ms.push_back(best_ms_);
    curve_.seq.push_back(row.seq);
  }
  Curve& curve() { return curve_; }

 private:
  Curve curve_;
  absl::flat_hash_set<int64_t> configs_;
  double best_ms_ = std::numeric_limits<double>::infinity();
};

// Returns about `points` indexes, spread evenly over the list, with the first and the last one.
std::vector<size_t> Thinned(size_t size, size_t points) {
  std::vector<size_t> kept;
  const size_t count = std::min(size, points);
  for (size_t i = 0; i < count; ++i) kept.push_back(count == size ? i : i * (size - 1) / (count - 1));
  return kept;
}

template <typename T>
void WriteColumn(JsonWriter& out, const char* key, const std::vector<T>& values, const std::vector<size_t>& kept) {
  out.BeginArray(key);
  for (const size_t i : kept) out.Value(values[i]);
  out.EndArray();
}

void WriteSeries(const Curve& curve, const std::string& id, const std::string& label, size_t points, JsonWriter& out) {
  const std::vector<size_t> kept = Thinned(curve.best_ms.size(), points);
  out.BeginObject();
  out.Field("attempt_id", id);
  out.Field("label", label);
  WriteColumn(out, "configs", curve.configs, kept);
  WriteColumn(out, "seconds", curve.seconds, kept);
  WriteColumn(out, "best_ms", curve.best_ms, kept);
  WriteColumn(out, "seq", curve.seq, kept);
  out.Field("total_configs", curve.total_configs);
  out.Field("total_seconds", curve.total_seconds);
  out.EndObject();
}

}  // namespace

absl::Status GetConvergence(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"sender", "points", "format"}, {"attempt"}));
  ASSIGN_OR_RETURN(const int64_t points, call.parameters.Bounded("points", 1000, 10, 4000));
  ASSIGN_OR_RETURN(const RunScope scope, FindRun(call));
  rows::StatusTable statuses(call.dataset);
  RETURN_IF_ERROR(statuses.Refresh());
  rows::RowCursor cursor(call.dataset, rows::RowCursor::Failures::kSkip);
  int64_t rows = 0;
  size_t done = 0;
  bool is_cut = false;
  out.BeginObject();
  out.BeginArray("series");
  for (; done < scope.attempts.size() && !is_cut; ++done) {
    CurveBuilder builder;
    cursor.Begin(scope.attempts[done]);
    while (true) {
      ASSIGN_OR_RETURN(const bool found, cursor.Next());
      if (!found) break;
      is_cut = ++rows > kMostRows;
      if (is_cut) break;
      builder.Add(cursor.row(), statuses.Kind(cursor.row().status));
    }
    cursor.End();
    WriteSeries(builder.curve(), scope.attempt_ids[done], scope.labels[done], static_cast<size_t>(points), out);
  }
  out.EndArray();
  out.Field("attempts_left_out", scope.attempts_left_out + static_cast<int64_t>(scope.attempts.size() - done));
  out.Field("cut", is_cut);
  storage::sql::Statement noise(call.scratch, "SELECT noise FROM runs WHERE run = ?1");
  ASSIGN_OR_RETURN(const bool found, noise.Bind(scope.runs.front()).Step());
  found ? WriteDouble(out, "noise", noise, 0) : out.Field("noise", nullptr);
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
