#pragma once

#include <string>
#include <vector>

#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::storage {

// Checks a dataset's file without its checksums: SQLite's integrity_check (the structure of the pages, each index
// against its table, the constraints of each column) and the foreign keys. Returns the damage, for a person; empty:
// none. A changed value that breaks no constraint is not found. Reads the whole file.
std::vector<std::string> CheckContent(SqliteDatabase& database);

}  // namespace telemetry::storage
