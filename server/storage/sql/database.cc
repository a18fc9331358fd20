#include "server/storage/sql/database.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "server/storage/sql/statement.h"

namespace telemetry::storage {

absl::StatusOr<int64_t> Database::QueryInt(const char* sql) {
  const absl::StatusOr<std::optional<int64_t>> value = Statement(*this, sql).QueryInt();
  if (!value.ok()) return value.status();
  if (!value->has_value()) return absl::NotFoundError(absl::StrCat("no row: ", sql));
  return **value;
}

}  // namespace telemetry::storage
