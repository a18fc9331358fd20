#include "server/storage/postgresql/pg_removed_rows.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace telemetry::storage::postgresql {
namespace {

// A table of rows of attempts, and its column with values of any length.
struct RowTable {
  const char* name;
  const char* long_column;
};
constexpr size_t kEvents = 2;
constexpr size_t kMeasurements = 3;
constexpr RowTable kTables[] = {{"measurement_details", "samples_ms_json"},
                                {"source_hashes", "source_hash"},
                                {"attempt_events", "text"},
                                {"measurements", "failure"}};

// Deletes the next rows of an attempt and returns their numbers. ?1: run; ?2: attempt; ?3: rows after this one; ?4:
// number of rows; ?5: bytes of long values, which the first row may exceed. Begins after the rows that were deleted
// before, since a long transaction of another connection may keep the server from skipping them quickly.
std::string DeletePageSql(const RowTable& table) {
  return absl::StrCat("WITH page AS (SELECT seq, sum(coalesce(pg_column_size(", table.long_column,
                      "), 0)) OVER (ORDER BY seq) AS bytes, row_number() OVER (ORDER BY seq) AS place FROM ",
                      table.name, " WHERE run = ?1 AND attempt = ?2 AND seq > ?3 ORDER BY seq LIMIT ?4) DELETE FROM ",
                      table.name, " AS m USING page WHERE m.run = ?1 AND m.attempt = ?2 AND m.seq = page.seq ",
                      "AND (page.bytes <= ?5 OR page.place = 1) RETURNING m.seq");
}

}  // namespace

PgRemovedRows::PgRemovedRows(PgDatabase& database)
    : next_attempt_(database, "SELECT attempt, run FROM removed_attempts ORDER BY attempt LIMIT 1"),
      end_attempt_(database, "DELETE FROM removed_attempts WHERE attempt = ?1") {
  for (const RowTable& table : kTables) delete_page_.push_back(database.PreparePg(DeletePageSql(table)));
}

absl::StatusOr<PgRemovedRows::Deleted> PgRemovedRows::DeleteSome() {
  Deleted all;
  int64_t left = kRowsAtOnce;
  for (int statements = 0; statements < kStatementsAtOnce && left > 0; ++statements) {
    if (attempt_ == 0) {
      ASSIGN_OR_RETURN(const bool found, NextAttempt());
      if (!found) {
        all.is_done = true;
        return all;
      }
    }
    ASSIGN_OR_RETURN(const int64_t deleted, DeletePage(left));
    left -= deleted;
    if (table_ == kMeasurements) all.measurements += deleted;
    if (table_ == kEvents) all.events += deleted;
    if (deleted > 0) continue;
    last_seq_ = 0;
    if (++table_ < std::size(kTables)) continue;
    RETURN_IF_ERROR(EndAttempt());
  }
  return all;
}

absl::StatusOr<int64_t> PgRemovedRows::DeletePage(int64_t most) {
  PgStatement& page = *delete_page_[table_];
  page.Reset();
  page.Bind(1, run_);
  page.Bind(2, attempt_);
  page.Bind(3, last_seq_);
  page.Bind(4, most);
  page.Bind(5, kLongBytesAtOnce);
  for (int64_t rows = 0;; ++rows) {
    ASSIGN_OR_RETURN(const bool row, page.Step());
    if (!row) return rows;
    last_seq_ = std::max(last_seq_, page.Int(0));
  }
}

absl::StatusOr<bool> PgRemovedRows::NextAttempt() {
  ASSIGN_OR_RETURN(const bool found, next_attempt_.Step());
  if (!found) return false;
  attempt_ = next_attempt_.Int(0);
  run_ = next_attempt_.Int(1);
  table_ = 0;
  last_seq_ = 0;
  next_attempt_.Reset();
  return true;
}

absl::Status PgRemovedRows::EndAttempt() { return end_attempt_.Bind(std::exchange(attempt_, 0)).Run(); }

}  // namespace telemetry::storage::postgresql
