#include "server/web/api/row_failures.h"

#include "proto/base/status_macros.h"

namespace telemetry::web::api {

// The cast tells PostgreSQL which substr is meant.
RowFailures::RowFailures(storage::sql::Database& dataset)
    : read_(dataset, {.text = "SELECT substr(failure, 1, CAST(?3 AS INTEGER)) FROM whole_measurements",
                      .key = storage::sql::kInRun,
                      .where = "attempt = ?1 AND seq = ?2"}) {}

absl::StatusOr<std::string> RowFailures::Read(const storage::sql::AttemptKey& key, int64_t seq, int64_t most) {
  ASSIGN_OR_RETURN(const bool found, read_.Bind(storage::sql::InRun{key.run}, key.attempt, seq, most).Step());
  std::string failure = found ? read_.String(0) : "";
  read_.Reset();
  return failure;
}

}  // namespace telemetry::web::api
