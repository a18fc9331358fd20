#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sqlite/acked_mark.h"
#include "server/storage/sqlite/sqlite_database.h"
#include "server/storage/sqlite/wal_scan.h"

namespace telemetry::storage {

struct AckedCheck {
  WalScan log;
  std::vector<std::string> damage;  // for a person; empty: nothing that was acknowledged is known to be missing
};

// Holds a database and its write-ahead log against what was acknowledged (`mark`, read before the transaction that the
// connection is in began; nullopt: not known). Beside a writer, too. Errors are the disk's.
absl::StatusOr<AckedCheck> CheckAcked(SqliteDatabase& database, const std::optional<AckedMark>& mark);

// DATA_LOSS: something acknowledged is missing from `path`; the message says what, and what to do.
absl::Status RequireAcked(SqliteDatabase& database, const std::string& path, const std::optional<AckedMark>& mark);

}  // namespace telemetry::storage
