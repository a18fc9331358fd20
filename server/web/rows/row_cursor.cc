#include "server/web/rows/row_cursor.h"

#include "proto/base/status_macros.h"
#include "server/web/rows/optional_column.h"

namespace telemetry::web::rows {
namespace {

using storage::sql::AttemptKey;
using storage::sql::InRun;

// Rows of a page.
constexpr int64_t kPage = 2000;
constexpr int64_t kFailurePage = 100;

constexpr char kRows[] =
    "SELECT seq, timestamp_s, generation, status, perf_ms, compile_time_s, config FROM measurements";
constexpr char kRowsWithFailures[] =
    "SELECT seq, timestamp_s, generation, status, perf_ms, compile_time_s, config, substr(failure, 1, 16384) "
    "FROM whole_measurements";

}  // namespace

RowCursor::Pages::Pages(storage::sql::Database& dataset, const char* select, int64_t rows)
    : statement(
          dataset,
          {.text = select, .key = storage::sql::kInRun, .where = "attempt = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3"}),
      page(rows) {}

void RowCursor::Pages::Begin(const AttemptKey& attempt, int64_t after_seq) {
  key = attempt;
  seq = after_seq;
  left = page;
  statement.Bind(InRun{key.run}, key.attempt, seq, page);
}

absl::StatusOr<bool> RowCursor::Pages::Next() {
  ASSIGN_OR_RETURN(has_row, statement.Step());
  if (!has_row && left == 0) {
    Begin(key, seq);
    ASSIGN_OR_RETURN(has_row, statement.Step());
  }
  if (!has_row) return false;
  --left;
  seq = statement.Int(0);
  return true;
}

void RowCursor::Pages::End() {
  statement.Reset();
  has_row = false;
}

RowCursor::RowCursor(storage::sql::Database& dataset, Failures failures)
    : reads_failures_(failures == Failures::kRead),
      rows_(dataset, reads_failures_ ? kRowsWithFailures : kRows, reads_failures_ ? kFailurePage : kPage),
      stages_(dataset, "SELECT seq, stage FROM measurement_details", kPage) {}

void RowCursor::Begin(const AttemptKey& key, int64_t after_seq) {
  rows_.Begin(key, after_seq);
  stages_.Begin(key, after_seq);
  has_begun_ = false;
}

absl::StatusOr<bool> RowCursor::Next() {
  ASSIGN_OR_RETURN(const bool found, rows_.Next());
  if (!found) {
    End();
    return false;
  }
  const storage::sql::Statement& row = rows_.statement;
  row_ = {.seq = row.Int(0),
          .timestamp_s = row.Double(1),
          .generation = row.Int(2),
          .status = row.Int(3),
          .perf_ms = OptionalDouble(row, 4),
          .compile_time_s = OptionalDouble(row, 5),
          .config = row.Int(6)};
  if (reads_failures_) row_.failure = row.Text(7);
  RETURN_IF_ERROR(FindStage());
  return true;
}

absl::Status RowCursor::FindStage() {
  if (!has_begun_) RETURN_IF_ERROR(stages_.Next().status());
  has_begun_ = true;
  while (stages_.has_row && stages_.seq < row_.seq) RETURN_IF_ERROR(stages_.Next().status());
  if (stages_.has_row && stages_.seq == row_.seq) row_.stage = ParseStage(stages_.statement.Text(1));
  return absl::OkStatus();
}

void RowCursor::End() {
  rows_.End();
  stages_.End();
}

}  // namespace telemetry::web::rows
