#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace telemetry::copy {

enum class ColumnType { kInteger, kReal, kText, kBytes };

struct Column {
  std::string name;
  ColumnType type = ColumnType::kInteger;
};

// What the rows of a table belong to, which they are read by. Tables of attempts and of IR graphs have the run in their
// key, too, where they are partitioned (server/storage/sql/partitions.h).
enum class Owner { kNone, kRun, kAttempt, kIrGraph };

// One table of a dataset, as it is copied.
struct DatasetTable {
  std::string name;
  Owner owner = Owner::kNone;
  std::string owner_column;  // of this table; empty: it has no owner
  // By which the rows of an owner (or of the table) are ordered: an integer column, or several columns whose rows are
  // few enough to be read at once.
  std::string key;
  bool has_integer_key = false;
  // PostgreSQL gives keys out of this sequence; empty: out of none.
  std::string key_sequence;
  bool only_in_sqlite = false;
  int rows_at_once = 0;  // so many of them fit into memory, however long their texts are
  // In the order of the schema; without the run that partitioned tables have besides.
  std::vector<Column> columns;

  bool HasRunBesides() const { return owner == Owner::kAttempt || owner == Owner::kIrGraph; }
  // Names with commas between.
  std::string ColumnNames() const;
};

// All tables of a dataset, in an order in which a row comes after those that it refers to. Their columns are those of
// the SQLite schema, which this program carries. INTERNAL: the schema has a table that is not among them.
absl::StatusOr<std::vector<DatasetTable>> DatasetTables();

}  // namespace telemetry::copy
