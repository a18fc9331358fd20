#pragma once

#include <string>
#include <vector>

#include "server/storage/sql/statement_text.h"

namespace telemetry::storage::postgresql {

// A statement in PostgreSQL's SQL.
struct PgSql {
  std::string text;
  int parameters = 0;     // number of parameters ($1, $2, ...)
  int run_parameter = 0;  // index of the run parameter (PreparedStatement::BindRun); 0: none
};

// Renders a statement with its key and its lock. ?1 becomes $1, and ?run becomes a parameter after the numbered ones.
PgSql ToPgSql(const sql::StatementText& statement);
// Renders the INSERT of a single row.
PgSql ToPgSql(const sql::BulkInsert& insert);

// A COPY of many rows.
struct PgCopy {
  std::string table;
  std::string text;             // COPY table (columns) FROM STDIN (FORMAT binary)
  std::vector<int> parameters;  // for each column, the parameter of the INSERT (from 1) that supplies it
};

PgCopy ToPgCopy(const sql::BulkInsert& insert);

}  // namespace telemetry::storage::postgresql
