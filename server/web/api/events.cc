#include <optional>
#include <string>

#include "proto/base/status_macros.h"
#include "server/web/api/common.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/page_writer.h"

namespace telemetry::web::api {
namespace {

constexpr size_t kMostTextBytes = 4096;

}  // namespace

absl::Status ListAttemptEvents(const Call& call, json::JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"limit", "cursor", "format"}));
  ASSIGN_OR_RETURN(const int64_t size, PageSize(call));
  ASSIGN_OR_RETURN(const std::optional<Cursor> cursor, ParseCursor(call));
  storage::sql::Statement find(call.scratch, "SELECT attempt, run FROM attempts WHERE attempt_id = ?1");
  ASSIGN_OR_RETURN(const bool found, find.Bind(call.path.front()).Step());
  if (!found) return absl::NotFoundError("the dataset has no attempt with this id");
  storage::sql::Statement events(
      call.dataset,
      {.text = "SELECT seq, time_unix_us, substr(name, 1, 400), substr(text, 1, 4097) FROM attempt_events",
       .key = storage::sql::kInRun,
       .where = "attempt = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3"});
  events.Bind(storage::sql::InRun{find.Int(1)}, find.Int(0), cursor.has_value() ? cursor->key : 0, size + 1);
  out.BeginObject();
  RETURN_IF_ERROR(WritePage(
      out, events, size,
      [&] {
        WriteInt(out, "seq", events, 0);
        WriteTime(out, "time_unix_ms", events, 1);
        WriteText(out, "name", events, 2);
        out.Field("text", json::Whole{json::CleanText(events.Text(3), kMostTextBytes)});
      },
      [&] { return Cursor{.key = events.Int(0)}; }));
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
