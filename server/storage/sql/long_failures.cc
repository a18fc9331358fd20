#include "server/storage/sql/long_failures.h"

namespace telemetry::storage::sql {

LongFailures::LongFailures(Database& database) {
  if (!database.has_long_failures()) return;
  // Another program may have left the failure of a row that it deleted.
  insert_.emplace(database,
                  "INSERT INTO long_failures (attempt, seq, text) VALUES (?1, ?2, ?3) "
                  "ON CONFLICT (attempt, seq) DO UPDATE SET text = excluded.text");
}

absl::Status LongFailures::Store(int64_t attempt, uint64_t seq, std::optional<std::string_view> failure) {
  return IsLong(failure) ? insert_->Bind(attempt, seq, *failure).Run() : absl::OkStatus();
}

}  // namespace telemetry::storage::sql
