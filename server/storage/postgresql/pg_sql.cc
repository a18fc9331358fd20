#include "server/storage/postgresql/pg_sql.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace telemetry::storage::postgresql {
namespace {

constexpr std::string_view kRun = "?run";

const char* LockClause(sql::RowLock lock) {
  switch (lock) {
    case sql::RowLock::kKeyShare:
      return " FOR KEY SHARE";
    case sql::RowLock::kNoKeyUpdate:
      return " FOR NO KEY UPDATE";
    case sql::RowLock::kUpdate:
      return " FOR UPDATE";
    case sql::RowLock::kUpdateOrSkip:
      return " FOR UPDATE SKIP LOCKED";
    case sql::RowLock::kNone:
      break;
  }
  return "";
}

// Returns the highest parameter number.
int Parameters(std::string_view sql) {
  int most = 0;
  for (size_t at = sql.find('?'); at != std::string_view::npos; at = sql.find('?', at + 1)) {
    int number = 0;
    std::from_chars(sql.data() + at + 1, sql.data() + sql.size(), number);
    most = std::max(most, number);
  }
  return most;
}

// Numbers the parameters as PostgreSQL does.
PgSql WithPgParameters(std::string_view sql) {
  PgSql out{.text = {}, .parameters = Parameters(sql)};
  while (!sql.empty()) {
    if (sql.starts_with(kRun)) {
      sql.remove_prefix(kRun.size());
      if (out.run_parameter == 0) out.run_parameter = ++out.parameters;
      absl::StrAppend(&out.text, "$", out.run_parameter);
    } else {
      out.text.push_back(sql.front() == '?' ? '$' : sql.front());
      sql.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace

PgSql ToPgSql(const sql::StatementText& statement) {
  const auto& [text, key, where, lock] = statement;
  return WithPgParameters(absl::StrCat(text, where == nullptr ? "" : " WHERE ", key, key == nullptr ? "" : " AND ",
                                       where, LockClause(lock)));
}

// A COPY may set keys that the server generates otherwise, and so may the INSERT.
PgSql ToPgSql(const sql::BulkInsert& insert) {
  std::string text = sql::SingleInsert(insert, insert.in_run);
  text.insert(text.find(" VALUES "), " OVERRIDING SYSTEM VALUE");
  return WithPgParameters(text);
}

PgCopy ToPgCopy(const sql::BulkInsert& insert) {
  const int columns = sql::ColumnCount(insert);
  PgCopy copy{.table = insert.table,
              .text = absl::StrCat("COPY ", insert.table, " (", insert.in_run ? "run, " : "", insert.columns,
                                   ") FROM STDIN (FORMAT binary)"),
              .parameters = {}};
  if (insert.in_run) copy.parameters.push_back(columns + 1);
  for (int parameter = 1; parameter <= columns; ++parameter) copy.parameters.push_back(parameter);
  return copy;
}

}  // namespace telemetry::storage::postgresql
