#include "server/storage/tables/served_time.h"

#include "proto/base/status_macros.h"
#include "server/storage/sql/statement.h"

namespace telemetry::storage::tables {

absl::Status ServedTime::Add(absl::Duration passed) {
  const int64_t passed_us = absl::ToInt64Microseconds(passed);
  // A call without time adds no row; keys of served_time are never reused either.
  if (passed_us <= 0) return absl::OkStatus();
  return sql::Statement(
             database_,
             "INSERT INTO served_time (served_us, newest_attempt, newest_reject) "
             "SELECT coalesce((SELECT max(served_us) FROM served_time), 0) + ?1, "
             "coalesce((SELECT max(attempt) FROM attempts), 0), coalesce((SELECT max(reject) FROM rejects), 0)")
      .Bind(passed_us)
      .Run();
}

absl::StatusOr<absl::Duration> ServedTime::Total() {
  ASSIGN_OR_RETURN(const int64_t served_us, database_.QueryInt("SELECT coalesce(max(served_us), 0) FROM served_time"));
  return absl::Microseconds(served_us);
}

absl::StatusOr<OldKeys> ServedTime::OlderThan(absl::Duration age) {
  ASSIGN_OR_RETURN(const absl::Duration total, Total());
  if (age >= total) return OldKeys{};
  sql::Statement query(database_,
                       "SELECT newest_attempt, newest_reject FROM served_time WHERE served_us <= ?1 "
                       "ORDER BY served_us DESC LIMIT 1");
  ASSIGN_OR_RETURN(const bool row, query.Bind(absl::ToInt64Microseconds(total - age)).Step());
  if (!row) return OldKeys{};
  return OldKeys{.attempt = query.Int(0), .reject = query.Int(1)};
}

}  // namespace telemetry::storage::tables
