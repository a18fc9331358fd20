#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace telemetry::copy {

// The type of a column's values.
enum class ColumnType { kInteger, kReal, kText, kBytes };

// A column of a table.
struct Column {
  std::string name;
  ColumnType type = ColumnType::kInteger;
};

// The kind of entity to which the rows of a table belong and by which they are read. Tables of attempts and of IR
// graphs also have the run in their key if they are partitioned (server/storage/sql/statement_text.h).
enum class Owner { kNone, kRun, kAttempt, kIrGraph };

// The description of one table for the copy.
struct DatasetTable {
  std::string name;
  // The table or the view from which the rows are read. The view returns the values that SQLite stores in two tables.
  std::string source;
  Owner owner = Owner::kNone;
  std::string owner_column;  // column of this table; empty: no owner
  // The order of an owner's (or the table's) rows: an integer column, or several columns if the rows are few enough to
  // be read at once.
  std::string key;
  bool has_integer_key = false;
  // The sequence from which PostgreSQL draws keys. Empty: none.
  std::string key_sequence;
  int rows_at_once = 0;  // number of rows that fit into memory, whatever the length of their texts
  // In the order of the schema, without the additional run column of partitioned tables.
  std::vector<Column> columns;
  // Column of the failures, whose long ones SQLite stores in `long_failures`. -1: the table has none.
  int failure_column = -1;

  bool HasRunBesides() const { return owner == Owner::kAttempt || owner == Owner::kIrGraph; }
  // Returns the names, separated by commas.
  std::string ColumnNames() const;
};

// Returns all tables of a dataset, ordered so that a row follows the rows to which it refers. The columns are those of
// the SQLite schema, which this program contains. Returns INTERNAL if the schema has a table that is not described
// here.
absl::StatusOr<std::vector<DatasetTable>> DatasetTables();

}  // namespace telemetry::copy
