#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/web/api/common.h"

namespace telemetry::web::api {

// The order of a list: by an expression of SQL, NULLs last, then by a key in the same direction.
struct SortOrder {
  std::string expression;
  std::string key;
  bool is_descending = false;
  bool is_text = false;  // the expression is a text, else a number

  // Returns "ORDER BY ...".
  std::string Clause() const;
  // Returns the condition that selects what follows a cursor; INVALID_ARGUMENT: the cursor belongs to another order.
  absl::StatusOr<std::string> After(const std::optional<Cursor>& cursor) const;
  // Returns the cursor after an element; `value`: the column of the expression.
  Cursor Place(const storage::sql::Statement& row, int value, int key) const;
};

}  // namespace telemetry::web::api
