#include "server/copy/row_writer.h"

#include <optional>

namespace telemetry::copy {

using storage::sql::Blob;
using storage::sql::Statement;

RowWriter::RowWriter(storage::sql::Database& database, const DatasetTable& table)
    : table_(table),
      insert_(database.Prepare(storage::sql::BulkInsert{
          .table = table.name.c_str(), .columns = table.ColumnNames().c_str(), .in_run = table.HasRunBesides()})),
      long_failures_(database) {}

absl::Status RowWriter::Add(int64_t run, const Statement& row) {
  insert_->Reset();
  if (table_.HasRunBesides()) insert_->BindRun(run);
  for (size_t i = 0; i < table_.columns.size(); ++i) Bind(static_cast<int>(i), row);
  const absl::Status added = insert_->Step().status();
  return added.ok() ? AddLongFailure(row) : added;
}

absl::Status RowWriter::AddLongFailure(const Statement& row) {
  if (table_.failure_column < 0 || row.IsNull(table_.failure_column)) return absl::OkStatus();
  // The first columns of `measurements` are its key.
  return long_failures_.Store(row.Int(0), static_cast<uint64_t>(row.Int(1)), row.Text(table_.failure_column));
}

void RowWriter::Bind(int column, const Statement& row) {
  const int parameter = column + 1;
  if (row.IsNull(column)) return insert_->Bind(parameter, std::nullopt);
  switch (table_.columns[column].type) {
    case ColumnType::kInteger:
      return insert_->Bind(parameter, row.Int(column));
    case ColumnType::kReal:
      return insert_->Bind(parameter, row.Double(column));
    case ColumnType::kText:
      if (column == table_.failure_column) return insert_->Bind(parameter, *long_failures_.InRow(row.Text(column)));
      return insert_->Bind(parameter, row.Text(column));
    case ColumnType::kBytes:
      return insert_->Bind(parameter, Blob{row.Bytes(column)});
  }
}

}  // namespace telemetry::copy
