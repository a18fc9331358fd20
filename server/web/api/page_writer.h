#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "server/storage/sql/statement.h"
#include "server/web/api/common.h"
#include "server/web/json/json_writer.h"

namespace telemetry::web::api {

// Writes `items` and `next_cursor` of a list: the rows of a statement, which selects one more than `size`. `write`
// writes the members of an element; `place` returns the cursor after it.
template <typename Write, typename Place>
absl::Status WritePage(json::JsonWriter& out, storage::sql::Statement& bound, int64_t size, const Write& write,
                       const Place& place) {
  int64_t count = 0;
  Cursor last;
  out.BeginArray("items");
  absl::Status status = ForEachRow(bound, [&] {
    if (++count > size) return absl::OkStatus();
    out.BeginObject();
    write();
    out.EndObject();
    last = place();
    return absl::OkStatus();
  });
  out.EndArray();
  count > size ? out.Field("next_cursor", FormatCursor(last)) : out.Field("next_cursor", nullptr);
  return status;
}

}  // namespace telemetry::web::api
