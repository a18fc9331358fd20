#pragma once

#include <string>
#include <vector>

#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::storage::sqlite {

// Checks a dataset's file without its checksums: runs SQLite's integrity_check (the structure of the pages, each index
// against its table, the constraints of each column) and checks the foreign keys. Returns a description of each damage,
// for people; empty: no damage. Does not detect a changed value that violates no constraint. Reads the entire file.
std::vector<std::string> CheckContent(SqliteDatabase& database);

}  // namespace telemetry::storage::sqlite
