#pragma once

#include <string>

#include "absl/status/status.h"

namespace telemetry::bench {

// Runs `sqlite3 -csv -header DATABASE SQL` and writes what it prints to a file. FAILED_PRECONDITION: there is no
// sqlite3 in the path, or it failed.
absl::Status RunSqliteShell(const std::string& database, const std::string& sql, const std::string& output_path);

}  // namespace telemetry::bench
