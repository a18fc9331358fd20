#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/prepared_statement.h"

struct sqlite3;
struct sqlite3_stmt;

namespace telemetry::storage::sqlite {

// A PreparedStatement over sqlite3_stmt.
class SqliteStatement : public sql::PreparedStatement {
 public:
  SqliteStatement(sqlite3* database, const char* sql);
  ~SqliteStatement() override;
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  void Bind(int index, int64_t value) override;
  void Bind(int index, double value) override;
  void Bind(int index, std::string_view text) override;
  void Bind(int index, sql::Blob blob) override;
  void Bind(int index, std::nullopt_t null) override;
  // Does nothing: SQLite's tables are not partitioned.
  void BindRun(int64_t /*run*/) override {}

  absl::StatusOr<bool> Step() override;
  void Reset() override;
  int64_t changes() const override;

  bool IsNull(int column) const override;
  int64_t Int(int column) const override;
  double Double(int column) const override;
  std::string_view Text(int column) const override;
  std::string_view Bytes(int column) const override;

 private:
  void Keep(int code);

  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
  int error_ = 0;          // the first result code of a bind other than SQLITE_OK
  absl::Status prepared_;  // the error of the prepare, if it failed
};

}  // namespace telemetry::storage::sqlite
