#include "server/web/api/sort_order.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "proto/record/strings.h"

namespace telemetry::web::api {

using record::Cat;

std::string SortOrder::Clause() const {
  const char* const direction = is_descending ? " DESC" : "";
  return Cat(" ORDER BY (", expression, ") IS NULL, ", expression, direction, ", ", key, direction);
}

absl::StatusOr<std::string> SortOrder::After(const std::optional<Cursor>& cursor) const {
  if (!cursor.has_value()) return "1 = 1";
  const char* const behind = is_descending ? " < " : " > ";
  const std::string later_key = Cat(key, behind, cursor->key);
  if (cursor->is_null) return Cat("((", expression, ") IS NULL AND ", later_key, ")");
  double number = 0;
  if (!is_text && (!absl::SimpleAtod(cursor->value, &number) || !std::isfinite(number))) {
    return absl::InvalidArgumentError("parameter cursor: it belongs to another order");
  }
  const std::string value = is_text ? Quoted(cursor->value) : absl::StrFormat("%.17g", number);
  return Cat("((", expression, ") IS NULL OR ", expression, behind, value, " OR (", expression, " = ", value, " AND ",
             later_key, "))");
}

Cursor SortOrder::Place(const storage::sql::Statement& row, int value, int key_column) const {
  Cursor cursor = {.is_null = row.IsNull(value), .key = row.Int(key_column)};
  if (!cursor.is_null) cursor.value = is_text ? row.String(value) : absl::StrFormat("%.17g", row.Double(value));
  return cursor;
}

}  // namespace telemetry::web::api
