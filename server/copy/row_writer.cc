#include "server/copy/row_writer.h"

#include <optional>

namespace telemetry::copy {

using storage::sql::Blob;
using storage::sql::Statement;

RowWriter::RowWriter(storage::sql::Database& database, const DatasetTable& table)
    : table_(table),
      insert_(database.Prepare(storage::sql::BulkInsert{
          .table = table.name.c_str(), .columns = table.ColumnNames().c_str(), .in_run = table.HasRunBesides()})) {}

absl::Status RowWriter::Add(int64_t run, const Statement& row) {
  insert_->Reset();
  if (table_.HasRunBesides()) insert_->BindRun(run);
  for (size_t i = 0; i < table_.columns.size(); ++i) Bind(static_cast<int>(i), row);
  return insert_->Step().status();
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
      return insert_->Bind(parameter, row.Text(column));
    case ColumnType::kBytes:
      return insert_->Bind(parameter, Blob{row.Bytes(column)});
  }
}

}  // namespace telemetry::copy
