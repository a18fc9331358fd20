#include "server/storage/postgresql/pg_database.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/postgresql/pg_sql.h"

namespace telemetry::storage::postgresql {

absl::StatusOr<std::unique_ptr<PgDatabase>> PgDatabase::Open(const std::string& url, Access access) {
  const auto target = access == Access::kWrite ? PgConnection::Target::kReadWrite : PgConnection::Target::kAny;
  std::unique_ptr<PgDatabase> database(new PgDatabase(url, target));
  RETURN_IF_ERROR(database->connection_.Connect());
  return database;
}

std::unique_ptr<sql::PreparedStatement> PgDatabase::Prepare(const sql::StatementText& statement) {
  return NewStatement(ToPgSql(statement), /*rows=*/nullptr);
}

std::unique_ptr<sql::PreparedStatement> PgDatabase::Prepare(const sql::BulkInsert& insert) {
  return NewStatement(ToPgSql(insert), bulk_inserts_.FindRowBuffer(ToPgCopy(insert)));
}

std::unique_ptr<PgStatement> PgDatabase::PreparePg(const std::string& sql) {
  return NewStatement(ToPgSql({.text = sql.c_str()}), /*rows=*/nullptr);
}

std::unique_ptr<PgStatement> PgDatabase::NewStatement(PgSql sql, PgBulkRows* rows) {
  return std::make_unique<PgStatement>(connection_, bulk_inserts_, absl::StrCat("s", ++statements_), std::move(sql),
                                       rows);
}

absl::Status PgDatabase::Execute(const char* sql) {
  absl::Status status = bulk_inserts_.FinishCopy();
  return status.ok() ? connection_.Execute(sql).status() : status;
}

absl::Status PgDatabase::Begin(Access access) {
  const char* const sql = access == Access::kRead ? "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
                                                  : "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE";
  bulk_inserts_.Begin(uses_copy_ && access == Access::kWrite);
  is_read_only_ = access == Access::kRead;
  RETURN_IF_ERROR(connection_.Restore());
  absl::Status status = Execute(sql);
  if (status.ok() || connection_.alive()) return status;
  // A connection that was lost since its last use fails here first, and no statement of the transaction has run on it,
  // so it can be replaced.
  status = connection_.Reconnect();
  return status.ok() ? Execute(sql) : status;
}

absl::Status PgDatabase::Commit() {
  commit_unknown_ = false;
  RETURN_IF_ERROR(bulk_inserts_.FlushAll());
  const absl::StatusOr<PgResult> result = connection_.Execute("COMMIT");
  commit_unknown_ = !result.ok() && !connection_.alive();
  if (!result.ok()) return result.status();
  // The server reports success for a COMMIT of a transaction in which a statement failed, but rolls it back.
  if (std::string_view(PQcmdStatus(result->get())) == "COMMIT") return absl::OkStatus();
  return absl::AbortedError("PostgreSQL: the transaction was rolled back");
}

absl::Status PgDatabase::RollBack() {
  // The rollback also undoes rows that were sent, so the result of the COPY does not matter.
  bulk_inserts_.FinishCopy().IgnoreError();
  if (is_read_only_) {
    // Nothing depends on the result, so an export does not wait for it after each page.
    connection_.Send("ROLLBACK");
    return absl::OkStatus();
  }
  return connection_.alive() ? Execute("ROLLBACK") : absl::OkStatus();
}

}  // namespace telemetry::storage::postgresql
