#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telemetry::storage {

// The project's SQL translated to PostgreSQL's dialect.
struct PgSql {
  std::string text;
  int parameters = 0;     // number of parameters ($1, $2, ...)
  int run_parameter = 0;  // index of the run parameter (PreparedStatement::BindRun); 0: none
};

// Translates SQL: ?1 becomes $1, the text in a comment that begins with /*postgresql becomes SQL, and ?run in it
// becomes a parameter after the numbered ones.
PgSql ToPgSql(std::string_view sql);

// A gathered INSERT (gathered.h) expressed as a COPY.
struct PgCopy {
  std::string table;
  std::string text;             // COPY table (columns) FROM STDIN (FORMAT binary)
  std::vector<int> parameters;  // for each column, the parameter of the INSERT (from 1) that supplies it
};

// Returns nullopt if `sql` is not a gathered INSERT.
std::optional<PgCopy> ToPgCopy(const PgSql& sql);

}  // namespace telemetry::storage
