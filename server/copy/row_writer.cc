#include "server/copy/row_writer.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/postgresql/pg_copy_in.h"
#include "server/storage/sql/prepared_statement.h"

namespace telemetry::copy {
namespace {

using storage::sql::Blob;
using storage::sql::Statement;

class SqliteRowWriter : public RowWriter {
 public:
  SqliteRowWriter(storage::sqlite::SqliteDatabase& database, const DatasetTable& table)
      : table_(table),
        insert_(database.Prepare(
            storage::sql::BulkInsert{.table = table.name.c_str(), .columns = table.ColumnNames().c_str()})) {}

  absl::Status Add(int64_t /*run*/, const Statement& row) override {
    insert_->Reset();
    for (size_t i = 0; i < table_.columns.size(); ++i) Bind(static_cast<int>(i), row);
    return insert_->Step().status();
  }
  absl::Status Finish() override { return absl::OkStatus(); }

 private:
  void Bind(int column, const Statement& row) {
    const int parameter = column + 1;
    if (row.IsNull(column)) return insert_->Bind(parameter, std::nullopt);
    switch (table_.columns[column].type) {
      case ColumnType::kInteger:
        return insert_->Bind(parameter, row.Int(column));
      case ColumnType::kReal:
        return insert_->Bind(parameter, row.Double(column));
      case ColumnType::kText:
        return insert_->Bind(parameter, row.Text(column));
      case ColumnType::kBytes:
        return insert_->Bind(parameter, Blob{row.Bytes(column)});
    }
  }

  const DatasetTable& table_;
  const std::unique_ptr<storage::sql::PreparedStatement> insert_;
};

class PostgresqlRowWriter : public RowWriter {
 public:
  PostgresqlRowWriter(storage::postgresql::PgDatabase& database, const DatasetTable& table)
      : table_(table), rows_(database.connection()) {}

  absl::Status Add(int64_t run, const Statement& row) override {
    if (!begun_) {
      const std::string columns = absl::StrCat(table_.HasRunBesides() ? "run, " : "", table_.ColumnNames());
      RETURN_IF_ERROR(rows_.Begin(table_.name, columns));
      begun_ = true;
    }
    if (table_.HasRunBesides()) rows_.Append(run);
    for (size_t i = 0; i < table_.columns.size(); ++i) Append(static_cast<int>(i), row);
    return rows_.EndRow();
  }
  absl::Status Finish() override { return begun_ ? rows_.Finish() : absl::OkStatus(); }

 private:
  void Append(int column, const Statement& row) {
    if (row.IsNull(column)) return rows_.AppendNull();
    switch (table_.columns[column].type) {
      case ColumnType::kInteger:
        return rows_.Append(row.Int(column));
      case ColumnType::kReal:
        return rows_.Append(row.Double(column));
      case ColumnType::kText:
        return rows_.AppendText(row.Text(column));
      case ColumnType::kBytes:
        return rows_.AppendBytes(row.Bytes(column));
    }
  }

  const DatasetTable& table_;
  storage::postgresql::PgCopyIn rows_;
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<RowWriter> NewSqliteRowWriter(storage::sqlite::SqliteDatabase& database, const DatasetTable& table) {
  return std::make_unique<SqliteRowWriter>(database, table);
}

std::unique_ptr<RowWriter> NewPostgresqlRowWriter(storage::postgresql::PgDatabase& database,
                                                  const DatasetTable& table) {
  return std::make_unique<PostgresqlRowWriter>(database, table);
}

}  // namespace telemetry::copy
