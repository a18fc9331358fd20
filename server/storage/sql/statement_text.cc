#include "server/storage/sql/statement_text.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace telemetry::storage::sql {

int ColumnCount(const BulkInsert& insert) {
  const std::string_view columns = insert.columns;
  return 1 + static_cast<int>(std::count(columns.begin(), columns.end(), ','));
}

std::string SingleInsert(const BulkInsert& insert, bool run) {
  std::string sql = absl::StrCat("INSERT INTO ", insert.table, " (", run ? "run, " : "", insert.columns, ") VALUES (",
                                 run ? "?run, " : "", "?1");
  for (int parameter = 2; parameter <= ColumnCount(insert); ++parameter) absl::StrAppend(&sql, ", ?", parameter);
  return absl::StrCat(sql, ")", insert.on_conflict_do_nothing ? " ON CONFLICT DO NOTHING" : "");
}

}  // namespace telemetry::storage::sql
