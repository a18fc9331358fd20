#include "server/storage/tables/row_key.h"

#include <optional>

#include "proto/base/status_macros.h"

namespace telemetry::storage::tables {

absl::StatusOr<int64_t> KeyOfRow(sql::Statement& find, sql::Statement& insert) {
  // If another writer has inserted the row in the meantime, the INSERT does nothing and the second SELECT finds the
  // row.
  for (sql::Statement* statement : {&find, &insert, &find}) {
    ASSIGN_OR_RETURN(const std::optional<int64_t> key, statement->QueryInt());
    if (key.has_value()) return *key;
  }
  return absl::AbortedError("another writer inserted and removed the same row");
}

}  // namespace telemetry::storage::tables
