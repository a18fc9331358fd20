#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "server/web/api/common.h"
#include "server/web/api/condition.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/page_writer.h"
#include "server/web/api/stored_bytes.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using record::Cat;
using storage::sql::Statement;

constexpr char kCacheEntries[] =
    "SELECT e.cache_entry, e.namespace, e.key, s.name, e.stored_unix_us, e.size_bytes, e.attempt_id, e.hardware, "
    "e.versions_json, (SELECT r.run_id FROM attempts AS a JOIN runs AS r ON r.run = a.run "
    "WHERE a.attempt_id = e.attempt_id)";
constexpr char kCacheTables[] =
    " FROM cache_entries AS e JOIN cache_senders AS s ON s.cache_sender = e.cache_sender WHERE ";

void WriteCacheEntry(JsonWriter& out, const Statement& row, bool is_whole) {
  const auto write_text = [&](const char* key, int column) {
    is_whole && !row.IsNull(column) ? out.Field(key, json::Whole{row.Text(column)}) : WriteText(out, key, row, column);
  };
  WriteInt(out, "entry", row, 0);
  WriteText(out, "namespace", row, 1);
  write_text("key", 2);
  WriteText(out, "sender", row, 3);
  WriteTime(out, "stored_unix_ms", row, 4);
  WriteInt(out, "size_bytes", row, 5);
  WriteHex(out, "attempt_id", row, 6);
  WriteText(out, "run_id", row, 9);
  WriteText(out, "hardware", row, 7);
  write_text("versions", 8);
}

absl::Status WriteNamespaces(const Call& call, JsonWriter& out) {
  Statement spaces(call.dataset,
                   "SELECT namespace, count(*), CAST(sum(size_bytes) AS BIGINT) FROM cache_entries GROUP BY namespace "
                   "ORDER BY count(*) DESC, namespace LIMIT 200");
  out.BeginArray("namespaces");
  RETURN_IF_ERROR(ForEachRow(spaces, [&] {
    out.BeginObject();
    WriteText(out, "namespace", spaces, 0);
    WriteInt(out, "entries", spaces, 1);
    WriteInt(out, "bytes", spaces, 2);
    out.EndObject();
    return absl::OkStatus();
  }));
  out.EndArray();
  return absl::OkStatus();
}

}  // namespace

absl::Status ListCacheEntries(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"namespace", "q", "limit", "cursor", "format"}));
  ASSIGN_OR_RETURN(const int64_t size, PageSize(call));
  ASSIGN_OR_RETURN(const std::optional<Cursor> cursor, ParseCursor(call));
  Condition condition;
  ASSIGN_OR_RETURN(std::optional<std::string> space, call.parameters.Text("namespace"));
  if (space.has_value()) condition.Add("e.namespace = @", {Condition::Text(*std::move(space))});
  ASSIGN_OR_RETURN(std::optional<std::string> q, call.parameters.Text("q"));
  if (q.has_value() && !q->empty()) {
    condition.Add("replace(lower(e.key), lower(@), '') <> lower(e.key)", {Condition::Text(*std::move(q))});
  }
  if (cursor.has_value()) condition.Add(Cat("e.cache_entry < ", cursor->key));
  Statement list(
      call.dataset,
      Cat(kCacheEntries, kCacheTables, condition.sql(), " ORDER BY e.cache_entry DESC LIMIT ", size + 1).c_str());
  condition.BindTo(list);
  out.BeginObject();
  RETURN_IF_ERROR(WritePage(
      out, list, size, [&] { WriteCacheEntry(out, list, /*is_whole=*/false); },
      [&] { return Cursor{.key = list.Int(0)}; }));
  RETURN_IF_ERROR(WriteNamespaces(call, out));
  out.EndObject();
  return absl::OkStatus();
}

absl::Status GetCacheEntry(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({}));
  ASSIGN_OR_RETURN(const int64_t key, KeyInPath(call));
  Statement entry(call.dataset, Cat(kCacheEntries, ", length(e.value), substr(e.value, 1, ", kMostStoredBytes, ")",
                                    kCacheTables, "e.cache_entry = ?1")
                                    .c_str());
  ASSIGN_OR_RETURN(const bool found, entry.Bind(key).Step());
  if (!found) return absl::NotFoundError("there is no such entry");
  out.BeginObject();
  WriteCacheEntry(out, entry, /*is_whole=*/true);
  WriteBytes(out, "value", entry.Bytes(11), entry.Int(10));
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
