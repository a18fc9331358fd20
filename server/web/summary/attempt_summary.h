#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "server/storage/sql/attempt_key.h"
#include "server/storage/sql/database.h"
#include "server/storage/sql/statement.h"
#include "server/web/rows/row_cursor.h"
#include "server/web/rows/status_table.h"

namespace telemetry::web::summary {

// The ranks of rows in the search for the best one, the best rank first.
enum class Rank { kFinal = 0, kSearch = 1 };

// Numbers that are computed from all measurements of an attempt.
struct AttemptSummary {
  int64_t row_count = 0;
  int64_t detail_count = 0;
  int64_t max_seq = 0;
  int64_t configs = 0;  // with a result
  int64_t failed = 0;   // configs with a failure
  std::optional<double> best_ms;
  Rank best_rank = Rank::kSearch;
  int64_t best_seq = 0;
  rows::Stage best_stage = rows::Stage::kNone;
  int64_t best_config = 0;
  std::optional<double> default_ms;  // of the first config with a result
  std::optional<int64_t> generation;
  std::optional<double> duration_s;
  std::optional<double> improved_s;
  std::optional<int64_t> improved_config;
  std::optional<double> compile_s;
  std::optional<double> noise;
};

// The size of an attempt, which tells if its summary is up to date.
struct AttemptSize {
  int64_t row_count = 0;
  int64_t detail_count = 0;
  int64_t max_seq = 0;

  friend bool operator==(const AttemptSize&, const AttemptSize&) = default;
};

// Summarises attempts from their measurements, in the caller's transaction. Not thread-safe.
class AttemptSummariser {
 public:
  explicit AttemptSummariser(storage::sql::Database& dataset);

  absl::StatusOr<AttemptSummary> Summarise(const storage::sql::AttemptKey& key);
  // Returns the size; reads the index only.
  absl::StatusOr<AttemptSize> Measure(const storage::sql::AttemptKey& key);

 private:
  absl::Status AddNoise(const storage::sql::AttemptKey& key, AttemptSummary* summary);

  rows::StatusTable statuses_;
  rows::RowCursor rows_;
  storage::sql::Statement count_rows_;
  storage::sql::Statement count_details_;
  storage::sql::Statement samples_;
};

}  // namespace telemetry::web::summary
