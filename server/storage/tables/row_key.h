#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/storage/sql/statement.h"

namespace telemetry::storage {

// The key of a row that is made when it is not there. Both statements are bound, and their first column is the key;
// `insert` is an INSERT ... ON CONFLICT DO NOTHING RETURNING. ABORTED: others made it and removed it meanwhile.
absl::StatusOr<int64_t> KeyOfRow(Statement& find, Statement& insert);

}  // namespace telemetry::storage
