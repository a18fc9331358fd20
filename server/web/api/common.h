#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "proto/record/json.h"
#include "server/storage/sql/statement.h"
#include "server/web/api/call.h"
#include "server/web/json/json_writer.h"

namespace telemetry::web::api {

// The most code points of a column that a list reads, more than it shows.
inline constexpr int kListColumnLength = 400;

// Writes a Named from the columns label and filter at `column`.
void WriteNamed(json::JsonWriter& out, std::string_view key, const storage::sql::Statement& row, int column);
// Write a column, or null for NULL.
void WriteText(json::JsonWriter& out, std::string_view key, const storage::sql::Statement& row, int column);
void WriteInt(json::JsonWriter& out, std::string_view key, const storage::sql::Statement& row, int column);
void WriteDouble(json::JsonWriter& out, std::string_view key, const storage::sql::Statement& row, int column);
// Writes microseconds since 1970 as milliseconds.
void WriteTime(json::JsonWriter& out, std::string_view key, const storage::sql::Statement& row, int column);
// Writes bytes in hex digits.
void WriteHex(json::JsonWriter& out, std::string_view key, const storage::sql::Statement& row, int column);

void WriteSummaries(json::JsonWriter& out, const summary::Progress& progress);

// Returns the key of the text that a filter selects; nullopt: the summaries do not have the text.
absl::StatusOr<std::optional<int64_t>> FindText(storage::sql::Database& scratch, std::string_view filter);

// Returns the milliseconds since 1970.
int64_t NowUnixMs();

// The position after an element of a list, as `cursor` and `next_cursor` contain it: a value and a key.
struct Cursor {
  std::string value;
  bool is_null = false;  // the value is NULL
  int64_t key = 0;
};
std::string FormatCursor(const Cursor& cursor);
// Parses the parameter `cursor`. nullopt: the parameter is absent. INVALID_ARGUMENT: it is not a cursor.
absl::StatusOr<std::optional<Cursor>> ParseCursor(const Call& call);

// Writes a JSON value of the dataset, with its texts cleaned. Numbers that JSON lacks become null.
void WriteJson(const record::Json& json, json::JsonWriter& out);

// Returns a text as a string literal of SQL.
std::string Quoted(std::string_view text);

}  // namespace telemetry::web::api
