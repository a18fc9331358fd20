#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/storage/sql/statement.h"

namespace telemetry::storage::tables {

// Returns the key of a row, and inserts the row if it does not exist. Both statements are bound, and their first column
// is the key; `insert` is an INSERT ... ON CONFLICT DO NOTHING RETURNING. Returns ABORTED if other writers inserted and
// removed the row in the meantime.
absl::StatusOr<int64_t> KeyOfRow(sql::Statement& find, sql::Statement& insert);

}  // namespace telemetry::storage::tables
