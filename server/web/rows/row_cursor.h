#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/attempt_key.h"
#include "server/storage/sql/statement.h"
#include "server/web/rows/stage.h"

namespace telemetry::web::rows {

// Rows of a trace that are not in the CSV begin at this position, and are not in the order of time.
inline constexpr int64_t kFirstTraceSeq = int64_t{1} << 48;

// A measurement with its stage. The view is valid until the next row.
struct Row {
  int64_t seq = 0;
  double timestamp_s = 0;
  int64_t generation = 0;
  int64_t status = 0;
  std::optional<double> perf_ms;
  std::optional<double> compile_time_s;
  int64_t config = 0;
  Stage stage = Stage::kNone;
  std::string_view failure;  // JSON, cut after kMostFailureLength; empty: none, or not read
};

// The most code points of a failure that are read.
inline constexpr int kMostFailureLength = 16384;

// Reads the measurements of attempts in the order of `seq`, together with their stages, in the caller's transaction. A
// statement reads a page, since some databases return all rows of a statement at once. Not thread-safe.
class RowCursor {
 public:
  enum class Failures { kSkip, kRead };

  RowCursor(storage::sql::Database& dataset, Failures failures);

  // Begins with the rows of an attempt after `after_seq`.
  void Begin(const storage::sql::AttemptKey& key, int64_t after_seq = 0);
  // Moves to the next row. Returns false after the last one.
  absl::StatusOr<bool> Next();
  const Row& row() const { return row_; }
  // Ends the reading before the last row.
  void End();

 private:
  absl::Status FindStage();

  // A statement that reads pages of rows in the order of `seq`, which is its first column.
  struct Pages {
    Pages(storage::sql::Database& dataset, const char* select, int64_t rows);
    void Begin(const storage::sql::AttemptKey& attempt, int64_t after_seq);
    // Moves to the next row. Returns false after the last one.
    absl::StatusOr<bool> Next();
    void End();

    storage::sql::Statement statement;
    const int64_t page;  // rows of a page
    storage::sql::AttemptKey key;
    int64_t seq = 0;   // of the current row
    int64_t left = 0;  // rows that may still follow in the page
    bool has_row = false;
  };

  const bool reads_failures_;
  Pages rows_;
  Pages stages_;
  bool has_begun_ = false;
  Row row_;
};

}  // namespace telemetry::web::rows
