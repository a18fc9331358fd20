#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/postgresql/connection.h"
#include "server/storage/postgresql/pg_bulk_inserts.h"
#include "server/storage/postgresql/pg_statement.h"
#include "server/storage/sql/database.h"
#include "server/storage/sql/prepared_statement.h"

namespace telemetry::storage::postgresql {

// A Database on a PostgreSQL server. Begin() re-establishes a lost connection. Any other call on a lost connection
// fails once with an error of PgConnection.
class PgDatabase : public sql::Database {
 public:
  // Connects. With kWrite, connects to a server that accepts writes, and returns UNAVAILABLE if there are only
  // standbys.
  static absl::StatusOr<std::unique_ptr<PgDatabase>> Open(const std::string& url, Access access = Access::kRead);

  std::unique_ptr<sql::PreparedStatement> Prepare(const sql::StatementText& statement) override;
  std::unique_ptr<sql::PreparedStatement> Prepare(const sql::BulkInsert& insert) override;
  // Prepares a statement, for callers that use features of PostgreSQL only.
  std::unique_ptr<PgStatement> PreparePg(const std::string& sql);
  absl::Status Execute(const char* sql) override;
  // Counts rows of prepared statements only.
  int64_t changed_rows() const override { return connection_.changed_rows(); }
  // kRead: all statements see the dataset as it was at the first statement. kWrite: each statement sees the
  // transactions that were committed before it, and the SQL locks rows explicitly.
  absl::Status Begin(Access access) override;
  absl::Status Commit() override;
  absl::Status RollBack() override;
  uint64_t connections_lost() const override { return PgConnection::connections_lost(); }

  // After a failed Commit(): false if the server has rolled back, true if the outcome is unknown.
  bool commit_unknown() const { return commit_unknown_; }

  // Sets whether the next transactions store the rows of bulk inserts with COPY, or one by one. Off at first.
  void set_uses_copy(bool uses_copy) { uses_copy_ = uses_copy; }
  // Returns whether the last transaction failed in a COPY. A transaction without COPY may succeed.
  bool copy_failed() const { return bulk_inserts_.has_failed(); }

  PgConnection& connection() { return connection_; }

 private:
  PgDatabase(const std::string& url, PgConnection::Target target)
      : connection_(url, target), bulk_inserts_(connection_) {}

  std::unique_ptr<PgStatement> NewStatement(PgSql sql, PgBulkRows* rows);

  PgConnection connection_;
  PgBulkInserts bulk_inserts_;
  bool uses_copy_ = false;
  bool is_read_only_ = false;  // the last transaction
  int statements_ = 0;
  bool commit_unknown_ = false;
};

}  // namespace telemetry::storage::postgresql
