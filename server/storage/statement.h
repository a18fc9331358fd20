#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/database.h"

struct sqlite3_stmt;

namespace telemetry::storage {

// Bytes that are no text.
struct Blob {
  std::string_view bytes;
};

// One prepared statement. An error while preparing or binding is kept and returned by the next Step or Run, so that a
// use is one expression. Text and blobs are not copied: they must live until the statement is reset.
class Statement {
 public:
  Statement(const Database& database, const char* sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Resets the statement and binds its parameters ?1, ?2, ... An empty optional is NULL.
  template <typename... Values>
  Statement& Bind(const Values&... values) {
    Reset();
    int index = 0;
    (BindAt(++index, values), ...);
    return *this;
  }

  // Moves to the next row; false: there is none, and the statement is reset.
  absl::StatusOr<bool> Step();
  // For statements without rows: runs to the end and resets.
  absl::Status Run();
  // Ends the statement's read of the database. Views of its columns end here.
  void Reset();

  // The current row, columns from 0. Views live until the next Step or Reset.
  bool IsNull(int column) const;
  int64_t Int(int column) const;
  double Double(int column) const;
  std::string_view Text(int column) const;
  std::string_view Bytes(int column) const;

 private:
  void BindAt(int index, int64_t value);
  void BindAt(int index, int value) { BindAt(index, int64_t{value}); }
  void BindAt(int index, uint64_t value) { BindAt(index, static_cast<int64_t>(value)); }
  void BindAt(int index, bool value) { BindAt(index, int64_t{value}); }
  void BindAt(int index, double value);
  void BindAt(int index, std::string_view text);
  void BindAt(int index, const std::string& text) { BindAt(index, std::string_view(text)); }
  void BindAt(int index, const char* text) { BindAt(index, std::string_view(text)); }
  void BindAt(int index, Blob blob);
  void BindAt(int index, std::nullopt_t);
  template <typename Value>
  void BindAt(int index, const std::optional<Value>& value) {
    value.has_value() ? BindAt(index, *value) : BindAt(index, std::nullopt);
  }

  void Keep(int code);

  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
  int error_ = 0;          // the first result code of prepare or bind that was no SQLITE_OK
  absl::Status prepared_;  // why there is no statement
};

}  // namespace telemetry::storage
