#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/storage/sql/attempt_key.h"
#include "server/web/rows/row_cursor.h"
#include "server/web/rows/status_table.h"

namespace telemetry::web::rows {

// The result of a config in an attempt: its fastest final row, else its fastest row that was not stopped early, else
// its last row.
struct MeasuredConfig {
  int64_t config = 0;
  int32_t attempt = 0;  // index in the list of attempts
  int64_t seq = 0;
  int64_t status = 0;
  StatusKind kind = StatusKind::kNoResult;
  Stage stage = Stage::kNone;
  std::optional<double> perf_ms;
  std::optional<double> compile_time_s;

  bool is_measured() const { return kind == StatusKind::kOk && perf_ms.has_value() && *perf_ms > 0; }
};

// The results of attempts.
struct MeasuredConfigs {
  std::vector<MeasuredConfig> configs;
  bool is_cut = false;  // the attempts have more rows than may be read; later ones are left out
};

// Reads the results of all configs of the attempts, at most `most_rows` rows.
absl::StatusOr<MeasuredConfigs> ReadMeasuredConfigs(storage::sql::Database& dataset,
                                                    absl::Span<const storage::sql::AttemptKey> attempts,
                                                    int64_t most_rows);

}  // namespace telemetry::web::rows
