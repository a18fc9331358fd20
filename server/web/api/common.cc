#include "server/web/api/common.h"

#include <charconv>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "proto/record/utf8.h"
#include "server/web/summary/named_text.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using storage::sql::Statement;

}  // namespace

void WriteNamed(JsonWriter& out, std::string_view key, const Statement& row, int column) {
  out.BeginObject(key);
  WriteText(out, "label", row, column);
  out.Field("filter", row.Text(column + 1));
  out.EndObject();
}

void WriteText(JsonWriter& out, std::string_view key, const Statement& row, int column) {
  row.IsNull(column) ? out.Field(key, nullptr) : out.Field(key, row.Text(column));
}

void WriteInt(JsonWriter& out, std::string_view key, const Statement& row, int column) {
  row.IsNull(column) ? out.Field(key, nullptr) : out.Field(key, row.Int(column));
}

void WriteDouble(JsonWriter& out, std::string_view key, const Statement& row, int column) {
  row.IsNull(column) ? out.Field(key, nullptr) : out.Field(key, row.Double(column));
}

void WriteTime(JsonWriter& out, std::string_view key, const Statement& row, int column) {
  row.IsNull(column) ? out.Field(key, nullptr) : out.Field(key, row.Int(column) / 1000);
}

void WriteHex(JsonWriter& out, std::string_view key, const Statement& row, int column) {
  row.IsNull(column) ? out.Field(key, nullptr) : out.Field(key, record::HexEncode(row.Bytes(column)));
}

void WriteSummaries(JsonWriter& out, const summary::Progress& progress) {
  out.BeginObject("summaries");
  out.Field("complete", progress.complete);
  out.Field("done_attempts", progress.done_attempts);
  out.Field("total_attempts", progress.total_attempts);
  out.EndObject();
}

absl::StatusOr<std::optional<int64_t>> FindText(storage::sql::Database& scratch, std::string_view filter) {
  const std::optional<std::string> digest = summary::DigestOfFilter(filter);
  if (!digest.has_value()) return std::nullopt;
  Statement find(scratch, "SELECT text FROM texts WHERE digest = ?1");
  return find.Bind(storage::sql::Blob{*digest}).QueryInt();
}

int64_t NowUnixMs() { return absl::ToUnixMillis(absl::Now()); }

std::string FormatCursor(const Cursor& cursor) {
  return record::Cat(cursor.key, cursor.is_null ? "n" : "v", record::HexEncode(cursor.value));
}

absl::StatusOr<std::optional<Cursor>> ParseCursor(const Call& call) {
  ASSIGN_OR_RETURN(const std::optional<std::string> text, call.parameters.Text("cursor"));
  if (!text.has_value()) return std::nullopt;
  Cursor cursor;
  const char* const end = text->data() + text->size();
  const auto [at, error] = std::from_chars(text->data(), end, cursor.key);
  const bool has_kind = error == std::errc() && at != end && (*at == 'n' || *at == 'v');
  if (!has_kind) return absl::InvalidArgumentError("parameter cursor: it is not a next_cursor");
  cursor.is_null = *at == 'n';
  absl::StatusOr<std::string> value = record::HexDecode({at + 1, static_cast<size_t>(end - at - 1)});
  if (!value.ok()) return absl::InvalidArgumentError("parameter cursor: it is not a next_cursor");
  const bool is_text = value->find('\0') == std::string::npos && record::FindInvalidUtf8(*value) == std::string::npos;
  if (!is_text) return absl::InvalidArgumentError("parameter cursor: it is not a next_cursor");
  cursor.value = *std::move(value);
  return cursor;
}

void WriteJson(const record::Json& json, JsonWriter& out) {
  using Kind = record::Json::Kind;
  switch (json.kind) {
    case Kind::kNull:
      return out.Value(nullptr);
    case Kind::kTrue:
    case Kind::kFalse:
      return out.Value(json.kind == Kind::kTrue);
    case Kind::kNumber:
      return json.text.find_first_of("NI") == std::string::npos ? out.Raw(json.text) : out.Value(nullptr);
    case Kind::kString:
      return out.Value(json::Whole{json.text});
    case Kind::kArray:
      out.BeginArray();
      for (const record::Json& item : json.items) WriteJson(item, out);
      return out.EndArray();
    case Kind::kObject:
      out.BeginObject();
      for (const auto& [key, value] : json.members) {
        out.Key(json::CleanText(key, json::kListTextBytes));
        WriteJson(value, out);
      }
      return out.EndObject();
  }
}

std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted.append(c == '\'' ? 2 : 1, c);
  quoted.push_back('\'');
  return quoted;
}

}  // namespace telemetry::web::api
