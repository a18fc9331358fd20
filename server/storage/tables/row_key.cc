#include "server/storage/tables/row_key.h"

#include <optional>

namespace telemetry::storage {

absl::StatusOr<int64_t> KeyOfRow(Statement& find, Statement& insert) {
  // If another writer has inserted the row in the meantime, the INSERT does nothing and the second SELECT finds the
  // row.
  for (Statement* statement : {&find, &insert, &find}) {
    const absl::StatusOr<std::optional<int64_t>> key = statement->QueryInt();
    if (!key.ok()) return key.status();
    if (key->has_value()) return **key;
  }
  return absl::AbortedError("another writer inserted and removed the same row");
}

}  // namespace telemetry::storage
