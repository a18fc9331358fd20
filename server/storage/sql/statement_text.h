#pragma once

#include <string>

namespace telemetry::storage::sql {

// The lock that a SELECT takes on its rows, until the end of the transaction. Not needed by a database that admits only
// one writer.
// kUpdateOrSkip: leaves out rows that another transaction has locked, and does not wait for them.
enum class RowLock { kNone, kKeyShare, kNoKeyUpdate, kUpdate, kUpdateOrSkip };

// A statement, which each kind of database renders in its own SQL. The texts must be understood by all of them.
// Parameters are ?1, ?2, ...
struct StatementText {
  const char* text;  // the statement; without its WHERE clause if `where` is set
  // A condition on a column that only PostgreSQL's tables have: the run by which a table is partitioned (kInRun), or
  // the hash of a long text. Requires `where`. nullptr: none
  const char* key = nullptr;
  const char* where = nullptr;  // the conditions, and the rest of the statement
  RowLock lock = RowLock::kNone;
};

// The key of a table that PostgreSQL partitions by run. A statement with this key is bound with InRun (statement.h).
inline constexpr char kInRun[] = "run = ?run";

// INSERT INTO table (columns) VALUES (?1, ?2, ...), for rows that need not be stored one by one. A database that stores
// many rows at once much faster may treat the rows as inserted and detect a row that already exists only later in the
// transaction. It then repeats the transaction, in the end with single INSERTs.
struct BulkInsert {
  const char* table;
  const char* columns;  // separated by commas
  // PostgreSQL partitions the table by run: an additional first column `run`, which is bound with InRun.
  bool in_run = false;
  bool on_conflict_do_nothing = false;
};

// Returns the number of columns, which is the number of the last numbered parameter.
int ColumnCount(const BulkInsert& insert);

// Returns the INSERT of a single row. With `run`, its first column is `run`, with the value ?run.
std::string SingleInsert(const BulkInsert& insert, bool run);

}  // namespace telemetry::storage::sql
