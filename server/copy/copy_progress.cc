#include "server/copy/copy_progress.h"

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/sql/schema_version.h"
#include "server/storage/sql/statement.h"

namespace telemetry::copy {

using storage::sql::kUnfinishedCopyTable;
using storage::sql::Statement;

absl::Status BeginCopy(storage::sql::Database& target, const CopyProgress& progress) {
  const std::string make = absl::StrCat("CREATE TABLE ", kUnfinishedCopyTable,
                                        " (source_state TEXT NOT NULL, step BIGINT NOT NULL, table_name TEXT NOT NULL, "
                                        "owner BIGINT NOT NULL, after_key BIGINT NOT NULL)");
  RETURN_IF_ERROR(target.Execute(make.c_str()));
  const std::string insert =
      absl::StrCat("INSERT INTO ", kUnfinishedCopyTable,
                   " (source_state, step, table_name, owner, after_key) VALUES (?1, ?2, ?3, ?4, ?5)");
  return Statement(target, insert.c_str())
      .Bind(progress.source_state, progress.step, progress.table, progress.place.owner, progress.place.after)
      .Run();
}

absl::StatusOr<CopyProgress> ReadProgress(storage::sql::Database& target) {
  const std::string sql =
      absl::StrCat("SELECT source_state, step, table_name, owner, after_key FROM ", kUnfinishedCopyTable);
  Statement read(target, {.text = sql.c_str(), .lock = storage::sql::RowLock::kUpdate});
  ASSIGN_OR_RETURN(const bool row, read.Step());
  if (!row) return absl::DataLossError("the unfinished copy has no progress record: remove it");
  return CopyProgress{.source_state = std::string(read.Text(0)),
                      .step = read.Int(1),
                      .table = std::string(read.Text(2)),
                      .place = {.owner = read.Int(3), .after = read.Int(4)}};
}

absl::Status RequireStep(storage::sql::Database& target, int64_t step) {
  ASSIGN_OR_RETURN(const CopyProgress progress, ReadProgress(target));
  if (progress.step == step) return absl::OkStatus();
  return absl::AbortedError("another copy to the same place is running");
}

absl::Status WriteProgress(storage::sql::Database& target, const CopyProgress& progress) {
  const std::string sql =
      absl::StrCat("UPDATE ", kUnfinishedCopyTable, " SET step = ?1, table_name = ?2, owner = ?3, after_key = ?4");
  return Statement(target, sql.c_str())
      .Bind(progress.step, progress.table, progress.place.owner, progress.place.after)
      .Run();
}

absl::Status EndCopy(storage::sql::Database& target) {
  return target.Execute(absl::StrCat("DROP TABLE ", kUnfinishedCopyTable).c_str());
}

}  // namespace telemetry::copy
