#include "server/web/rows/row_cursor.h"

#include "proto/base/status_macros.h"

namespace telemetry::web::rows {
namespace {

using storage::sql::InRun;
using storage::sql::kInRun;

constexpr char kAfter[] = "attempt = ?1 AND seq > ?2 ORDER BY seq";

std::optional<double> OptionalDouble(const storage::sql::Statement& row, int column) {
  return row.IsNull(column) ? std::nullopt : std::optional<double>(row.Double(column));
}

}  // namespace

RowCursor::RowCursor(storage::sql::Database& dataset, Failures failures)
    : reads_failures_(failures == Failures::kRead),
      rows_(dataset,
            {.text = failures == Failures::kRead
                         ? "SELECT seq, timestamp_s, generation, status, perf_ms, compile_time_s, config, failure "
                           "FROM measurements"
                         : "SELECT seq, timestamp_s, generation, status, perf_ms, compile_time_s, config "
                           "FROM measurements",
             .key = kInRun,
             .where = kAfter}),
      stages_(dataset, {.text = "SELECT seq, stage FROM measurement_details", .key = kInRun, .where = kAfter}) {}

void RowCursor::Begin(const storage::sql::AttemptKey& key, int64_t after_seq) {
  rows_.Bind(InRun{key.run}, key.attempt, after_seq);
  stages_.Bind(InRun{key.run}, key.attempt, after_seq);
  has_stage_ = true;
  row_ = {.seq = 0};
}

absl::StatusOr<bool> RowCursor::Next() {
  if (row_.seq == 0 && has_stage_) {
    ASSIGN_OR_RETURN(has_stage_, stages_.Step());
  }
  ASSIGN_OR_RETURN(const bool found, rows_.Step());
  if (!found) {
    stages_.Reset();
    return false;
  }
  row_ = {.seq = rows_.Int(0),
          .timestamp_s = rows_.Double(1),
          .generation = rows_.Int(2),
          .status = rows_.Int(3),
          .perf_ms = OptionalDouble(rows_, 4),
          .compile_time_s = OptionalDouble(rows_, 5),
          .config = rows_.Int(6)};
  if (reads_failures_) row_.failure = rows_.Text(7);
  RETURN_IF_ERROR(FindStage());
  return true;
}

absl::Status RowCursor::FindStage() {
  while (has_stage_ && stages_.Int(0) < row_.seq) {
    ASSIGN_OR_RETURN(has_stage_, stages_.Step());
  }
  if (has_stage_ && stages_.Int(0) == row_.seq) row_.stage = ParseStage(stages_.Text(1));
  return absl::OkStatus();
}

void RowCursor::End() {
  rows_.Reset();
  stages_.Reset();
}

}  // namespace telemetry::web::rows
