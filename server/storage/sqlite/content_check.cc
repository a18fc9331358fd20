#include "server/storage/sqlite/content_check.h"

#include "absl/strings/str_cat.h"
#include "server/storage/sql/statement.h"

namespace telemetry::storage::sqlite {
namespace {

// Calls `use` for each row of a query.
template <typename Use>
absl::Status ForEachRow(SqliteDatabase& database, const char* sql, Use use) {
  sql::Statement query(database, sql);
  while (true) {
    absl::StatusOr<bool> found = query.Step();
    if (!found.ok() || !*found) return found.status();
    use(query);
  }
}

absl::Status CheckFile(SqliteDatabase& database, std::vector<std::string>* damage) {
  return ForEachRow(database, "PRAGMA integrity_check", [damage](const sql::Statement& row) {
    if (row.Text(0) != "ok") damage->emplace_back(row.Text(0));
  });
}

absl::Status CheckReferences(SqliteDatabase& database, std::vector<std::string>* damage) {
  return ForEachRow(
      database, "SELECT \"table\", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2 ORDER BY 1, 2",
      [damage](const sql::Statement& row) {
        damage->push_back(absl::StrCat(row.Int(2), " rows of ", std::string(row.Text(0)), " reference a row of ",
                                       std::string(row.Text(1)), " that does not exist"));
      });
}

}  // namespace

std::vector<std::string> CheckContent(SqliteDatabase& database) {
  std::vector<std::string> damage;
  for (auto* part : {&CheckFile, &CheckReferences}) {
    const absl::Status status = part(database, &damage);
    // In a file that could be opened, a query that fails is damage, too.
    if (!status.ok()) damage.emplace_back(status.message());
  }
  return damage;
}

}  // namespace telemetry::storage::sqlite
