#include "server/storage/sqlite/sqlite_statement.h"

#include <sqlite3.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::storage::sqlite {

SqliteStatement::SqliteStatement(sqlite3* database, const char* sql) : database_(database) {
  const int code = sqlite3_prepare_v3(database_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
  if (code == SQLITE_OK) return;
  prepared_ = SqliteStatus(database_, code);
  prepared_ = absl::Status(prepared_.code(), absl::StrCat(prepared_.message(), " in: ", sql));
}

SqliteStatement::~SqliteStatement() { sqlite3_finalize(statement_); }

absl::StatusOr<bool> SqliteStatement::Step() {
  if (!prepared_.ok()) return prepared_;
  if (error_ != SQLITE_OK) return SqliteStatus(error_);
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    sqlite3_reset(statement_);
    return false;
  }
  absl::Status status = SqliteStatus(database_, code);
  sqlite3_reset(statement_);
  return status;
}

void SqliteStatement::Reset() {
  sqlite3_reset(statement_);
  error_ = SQLITE_OK;
}

void SqliteStatement::Keep(int code) {
  if (code != SQLITE_OK && error_ == SQLITE_OK) error_ = code;
}

void SqliteStatement::Bind(int index, int64_t value) { Keep(sqlite3_bind_int64(statement_, index, value)); }

// SQLite stores a whole number in a REAL column as an integer, which has no negative zero.
void SqliteStatement::Bind(int index, double value) {
  const double stored = value == 0 && std::signbit(value) ? sql::kNegativeZero : value;
  Keep(sqlite3_bind_double(statement_, index, stored));
}

void SqliteStatement::Bind(int index, std::string_view text) {
  // A null pointer would bind NULL, and an empty view may contain one.
  Keep(
      sqlite3_bind_text64(statement_, index, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void SqliteStatement::Bind(int index, sql::Blob blob) {
  const char* data = blob.bytes.empty() ? "" : blob.bytes.data();
  Keep(sqlite3_bind_blob64(statement_, index, data, blob.bytes.size(), SQLITE_STATIC));
}

void SqliteStatement::Bind(int index, std::nullopt_t /*null*/) { Keep(sqlite3_bind_null(statement_, index)); }

int64_t SqliteStatement::changes() const { return sqlite3_changes64(database_); }

bool SqliteStatement::IsNull(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

int64_t SqliteStatement::Int(int column) const { return sqlite3_column_int64(statement_, column); }

double SqliteStatement::Double(int column) const { return sqlite3_column_double(statement_, column); }

std::string_view SqliteStatement::Text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return {data == nullptr ? "" : data, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string_view SqliteStatement::Bytes(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return {data == nullptr ? "" : data, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

}  // namespace telemetry::storage::sqlite
