#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telemetry::storage {

// The project's SQL as PostgreSQL takes it.
struct PgSql {
  std::string text;
  int parameters = 0;     // how many of them, $1 and so on
  int run_parameter = 0;  // which of them is the run (PreparedStatement::BindRun); 0: none
};

// Translates: ?1 becomes $1, a comment that begins with /*postgresql is opened, and ?run in it becomes a parameter
// behind the numbered ones.
PgSql ToPgSql(std::string_view sql);

// A gathered INSERT (gathered.h) as a COPY.
struct PgCopy {
  std::string table;
  std::string text;             // COPY table (columns) FROM STDIN (FORMAT binary)
  std::vector<int> parameters;  // which parameter of the INSERT, from 1, each column takes
};

// nullopt: it is another statement.
std::optional<PgCopy> ToPgCopy(const PgSql& sql);

}  // namespace telemetry::storage
