#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sqlite/acked_mark.h"
#include "server/storage/sqlite/sqlite_database.h"
#include "server/storage/sqlite/wal_scan.h"

namespace telemetry::storage::sqlite {

// The result of CheckAcked().
struct AckedCheck {
  WalScan log;
  std::vector<std::string> damage;  // for people; empty if no acknowledged record is known to be missing
};

// Compares a database and its write-ahead log with `mark`, the amount that was acknowledged. The caller must read
// `mark` before it begins the transaction that the connection is in; nullopt means that no mark is known. May run
// beside a writer. Errors are I/O errors.
absl::StatusOr<AckedCheck> CheckAcked(SqliteDatabase& database, const std::optional<AckedMark>& mark);

// Returns DATA_LOSS if an acknowledged record is missing from `path`. The message names the damage and the remedy.
absl::Status RequireAcked(SqliteDatabase& database, const std::string& path, const std::optional<AckedMark>& mark);

}  // namespace telemetry::storage::sqlite
