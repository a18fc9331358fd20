#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/postgresql/connection.h"
#include "server/storage/postgresql/pg_gathering.h"
#include "server/storage/postgresql/pg_statement.h"
#include "server/storage/sql/database.h"
#include "server/storage/sql/prepared_statement.h"

namespace telemetry::storage {

// The Database that a PostgreSQL server has. Begin makes a lost connection anew; whatever else fails on one says so
// once, as PgConnection's errors do.
class PgDatabase : public Database {
 public:
  // kWrite: where one may write; UNAVAILABLE: all that is there is a standby.
  static absl::StatusOr<std::unique_ptr<PgDatabase>> Open(const std::string& url, Access access = Access::kRead);

  std::unique_ptr<PreparedStatement> Prepare(const char* sql) override;
  // The same, for what only PostgreSQL has.
  std::unique_ptr<PgStatement> PreparePg(const char* sql);
  absl::Status Execute(const char* sql) override;
  // Those of prepared statements.
  int64_t changed_rows() const override { return connection_.changed_rows(); }
  // kRead: all statements see the dataset as it was at the first. kWrite: each sees what was committed before it, and
  // rows are locked where the SQL says so.
  absl::Status Begin(Access access) override;
  absl::Status Commit() override;
  absl::Status RollBack() override;
  uint64_t connections_lost() const override { return PgConnection::connections_lost(); }

  // After a failed Commit: false: the server has rolled back; true: nobody has said what became of it.
  bool commit_unknown() const { return commit_unknown_; }

  // Whether the next transactions gather their INSERTs (gathered.h), and copy the rows into the tables at last. It is
  // off in the beginning.
  void set_gathers(bool gathers) { gathers_ = gathers; }
  // Whether the last transaction failed since rows that it had gathered could not be copied: one that does not gather
  // may succeed.
  bool gathering_failed() const { return gathering_.has_failed(); }

  PgConnection& connection() { return connection_; }

 private:
  PgDatabase(const std::string& url, PgConnection::Target target) : connection_(url, target), gathering_(connection_) {}

  PgConnection connection_;
  PgGathering gathering_;
  bool gathers_ = false;
  int statements_ = 0;
  bool commit_unknown_ = false;
};

}  // namespace telemetry::storage
