#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/storage/sql/database.h"
#include "server/storage/sql/prepared_statement.h"
#include "server/storage/sql/statement_text.h"

namespace telemetry::storage::sql {

// The run whose rows a statement is about. Binds kInRun and BulkInsert::in_run, in addition to the numbered parameters.
struct InRun {
  int64_t run = 0;
};

// A prepared statement. An error of preparing or binding is stored and returned by the next Step() or Run(), so that a
// use is one expression. Text and blobs are not copied: they must live until the statement is reset.
class Statement {
 public:
  // `sql` is the text of a StatementText without other parts.
  Statement(Database& database, const char* sql) : Statement(database, StatementText{.text = sql}) {}
  Statement(Database& database, const StatementText& statement) : prepared_(database.Prepare(statement)) {}
  Statement(Database& database, const BulkInsert& insert) : prepared_(database.Prepare(insert)) {}
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Resets the statement and binds its parameters ?1, ?2, ... An empty optional is NULL. Bindings survive a reset.
  template <typename... Values>
  Statement& Bind(const Values&... values) {
    Reset();
    int index = 0;
    (BindNext(index, values), ...);
    return *this;
  }

  // Resets the statement and binds the parameters from ?`first` on, as many as there are values.
  Statement& BindAll(int first, absl::Span<const int64_t> values) {
    Reset();
    for (const int64_t value : values) BindAt(first++, value);
    return *this;
  }

  // Binds a single parameter, for SQL with a varying number of parameters. Call Reset() before the first one.
  template <typename Value>
  Statement& BindOne(int index, const Value& value) {
    BindAt(index, value);
    return *this;
  }

  // Moves to the next row. Returns false, and resets the statement, if there is none.
  absl::StatusOr<bool> Step() { return prepared_->Step(); }
  // Runs a statement without rows to its end, and resets it.
  absl::Status Run();
  // Does the same, and returns the number of rows that were inserted, updated or deleted.
  absl::StatusOr<int64_t> RunCounting();
  // Returns the first column of the first row, for example of a SELECT or of an INSERT ... RETURNING; nullopt: no row.
  // Resets the statement.
  absl::StatusOr<std::optional<int64_t>> QueryInt();
  // Ends the statement's read of the database. Invalidates views of its columns.
  void Reset() { prepared_->Reset(); }

  // Values of the current row; columns are numbered from 0. Views are valid until the next Step() or Reset().
  bool IsNull(int column) const { return prepared_->IsNull(column); }
  int64_t Int(int column) const { return prepared_->Int(column); }
  double Double(int column) const { return AsRead(prepared_->Double(column)); }
  std::string_view Text(int column) const { return prepared_->Text(column); }
  std::string String(int column) const { return std::string(Text(column)); }
  std::string_view Bytes(int column) const { return prepared_->Bytes(column); }

 private:
  template <typename Value>
  void BindNext(int& index, const Value& value) {
    BindAt(++index, value);
  }
  void BindNext(int& /*index*/, const InRun& in) { prepared_->BindRun(in.run); }

  void BindAt(int index, int64_t value) { prepared_->Bind(index, value); }
  void BindAt(int index, int value) { BindAt(index, int64_t{value}); }
  void BindAt(int index, uint64_t value) { BindAt(index, static_cast<int64_t>(value)); }
  void BindAt(int index, bool value) { BindAt(index, int64_t{value}); }
  void BindAt(int index, double value) { prepared_->Bind(index, value); }
  void BindAt(int index, std::string_view text) { prepared_->Bind(index, text); }
  void BindAt(int index, const std::string& text) { BindAt(index, std::string_view(text)); }
  void BindAt(int index, const char* text) { BindAt(index, std::string_view(text)); }
  void BindAt(int index, Blob blob) { prepared_->Bind(index, blob); }
  void BindAt(int index, std::nullopt_t null) { prepared_->Bind(index, null); }
  template <typename Value>
  void BindAt(int index, const std::optional<Value>& value) {
    value.has_value() ? BindAt(index, *value) : BindAt(index, std::nullopt);
  }

  std::unique_ptr<PreparedStatement> prepared_;
};

}  // namespace telemetry::storage::sql
