#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/postgresql/connection.h"
#include "server/storage/postgresql/pg_array.h"
#include "server/storage/postgresql/pg_bulk_inserts.h"
#include "server/storage/postgresql/pg_sql.h"
#include "server/storage/sql/prepared_statement.h"

namespace telemetry::storage::postgresql {

// A statement that is prepared on its first run, and again on each new connection. The first Step() fetches all rows,
// so that another statement can run between two steps. A query that may return many rows therefore needs a LIMIT.
class PgStatement : public sql::PreparedStatement {
 public:
  // `name` is the prefix of the statement's name on this connection and must be unique. `connection`,
  // `bulk_inserts` and `rows` (the buffer of a bulk insert, or nullptr) must outlive the statement.
  PgStatement(PgConnection& connection, PgBulkInserts& bulk_inserts, std::string name, PgSql sql, PgBulkRows* rows);
  ~PgStatement() override;
  PgStatement(const PgStatement&) = delete;
  PgStatement& operator=(const PgStatement&) = delete;

  void Bind(int index, int64_t value) override;
  void Bind(int index, double value) override;
  void Bind(int index, std::string_view text) override;
  void Bind(int index, sql::Blob blob) override;
  void Bind(int index, std::nullopt_t null) override;
  void BindRun(int64_t run) override;
  void Bind(int index, const PgArray& array);

  absl::StatusOr<bool> Step() override;
  void Reset() override;
  int64_t changes() const override { return changes_; }

  bool IsNull(int column) const override;
  int64_t Int(int column) const override;
  double Double(int column) const override;
  std::string_view Text(int column) const override;
  std::string_view Bytes(int column) const override { return Text(column); }

 private:
  // A bound value in PostgreSQL's binary format.
  struct Value {
    Oid type = 0;                        // 0: only NULL has been bound so far; the server infers the type from the SQL
    std::array<char, 8> number = {};     // a number, most significant byte first
    std::optional<std::string_view> at;  // a text or bytes; `number` is not used then
    bool null = true;
  };

  Value* ValueAt(int index);
  void BindNumber(int index, Oid type, uint64_t bits);
  // Prepares and describes the statement on this connection, unless that has been done.
  absl::Status MakeReady();
  absl::Status Prepare();
  absl::Status Describe();
  absl::Status Run();
  // Returns the bound value of parameter `index` (from 0) in the type that the server expects. A view without data is
  // NULL.
  absl::StatusOr<std::string_view> Encode(size_t index) const;
  // Appends the row to the buffer of a bulk insert.
  absl::Status AppendRow();
  std::string_view Cell(int column) const;

  PgConnection& connection_;
  const std::string base_name_;
  std::string name_;  // on the server
  int names_ = 0;     // number of names tried so far
  const PgSql sql_;
  PgBulkInserts& bulk_inserts_;
  PgBulkRows* const bulk_rows_;  // nullptr: not a bulk insert
  std::vector<Value> values_;
  std::vector<Oid> types_;     // parameter types, as reported by the server
  uint64_t prepared_on_ = 0;   // the connection's generation; 0: not prepared yet
  uint64_t described_on_ = 0;  // the generation for which types_ is valid
  absl::Status bound_;         // the first error of a Bind
  PgResult result_;            // nullptr: not running
  int row_ = -1;
  int64_t changes_ = 0;
};

}  // namespace telemetry::storage::postgresql
