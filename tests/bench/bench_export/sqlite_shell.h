#pragma once

#include <string>

#include "absl/status/status.h"

namespace telemetry::bench {

// Runs `sqlite3 -csv -header DATABASE SQL` and writes its output to a file. Returns FAILED_PRECONDITION if sqlite3 is
// not in the PATH or fails.
absl::Status RunSqliteShell(const std::string& database, const std::string& sql, const std::string& output_path);

}  // namespace telemetry::bench
