#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/storage/sql/statement.h"

namespace telemetry::web::rows {

// Return a column of the current row; nullopt for NULL. The view is valid until the next step.
inline std::optional<std::string_view> OptionalText(const storage::sql::Statement& row, int column) {
  return row.IsNull(column) ? std::nullopt : std::optional<std::string_view>(row.Text(column));
}
inline std::optional<std::string> OptionalString(const storage::sql::Statement& row, int column) {
  return row.IsNull(column) ? std::nullopt : std::optional<std::string>(row.String(column));
}
inline std::optional<int64_t> OptionalInt(const storage::sql::Statement& row, int column) {
  return row.IsNull(column) ? std::nullopt : std::optional<int64_t>(row.Int(column));
}
inline std::optional<double> OptionalDouble(const storage::sql::Statement& row, int column) {
  return row.IsNull(column) ? std::nullopt : std::optional<double>(row.Double(column));
}

}  // namespace telemetry::web::rows
