#pragma once

#include <string>

#include "absl/status/status.h"

namespace telemetry::bench {

// Runs the SQL in the shell of the database, a SQLite file or the URL of a PostgreSQL server, which is `sqlite3` or
// `psql`. Returns FAILED_PRECONDITION if the shell is not in the PATH or fails.
absl::Status RunShell(const std::string& database, const std::string& sql);

// Writes the rows of a query as CSV, with `sqlite3 -csv` or `psql \copy`. SQLite runs the statements `before` first, in
// the same session.
absl::Status WriteQuery(const std::string& database, const std::string& before, const std::string& query,
                        const std::string& output_path);

}  // namespace telemetry::bench
