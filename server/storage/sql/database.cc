#include "server/storage/sql/database.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/sql/statement.h"

namespace telemetry::storage::sql {

absl::StatusOr<int64_t> Database::QueryInt(const char* sql) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> value, Statement(*this, sql).QueryInt());
  if (!value.has_value()) return absl::NotFoundError(absl::StrCat("no row: ", sql));
  return *value;
}

}  // namespace telemetry::storage::sql
