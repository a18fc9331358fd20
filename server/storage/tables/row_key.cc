#include "server/storage/tables/row_key.h"

#include <optional>

namespace telemetry::storage {

absl::StatusOr<int64_t> KeyOfRow(Statement& find, Statement& insert) {
  // A row that another writer has made meanwhile hinders the INSERT and is found the second time.
  for (Statement* statement : {&find, &insert, &find}) {
    const absl::StatusOr<std::optional<int64_t>> key = statement->QueryInt();
    if (!key.ok()) return key.status();
    if (key->has_value()) return **key;
  }
  return absl::AbortedError("a row that others made has gone again");
}

}  // namespace telemetry::storage
