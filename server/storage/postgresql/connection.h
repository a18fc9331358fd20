#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace telemetry::storage {

struct PgResultDeleter {
  void operator()(PGresult* result) const { PQclear(result); }
};
using PgResult = std::unique_ptr<PGresult, PgResultDeleter>;

// A connection to a PostgreSQL server that can be made anew, as after a restart of the server. Used by one thread at a
// time.
//
// Errors: UNAVAILABLE: no server, or the connection was lost, or the server has no room. ABORTED: others were in the
// way, and the same transaction may succeed when it is done again. PERMISSION_DENIED, NOT_FOUND: the user, the
// database. DATA_LOSS: the server found its files damaged. INTERNAL: anything else. No message holds a password.
class PgConnection {
 public:
  // Of several hosts in a url, and of one whose part may change: the first that is there, or the first that may be
  // written to.
  enum class Target { kAny, kReadWrite };

  // `url`: postgresql://..., or what else libpq takes. What it leaves open comes from libpq's usual places: PG*
  // variables, the service and the password file.
  explicit PgConnection(std::string url, Target target = Target::kAny);
  PgConnection(const PgConnection&) = delete;
  PgConnection& operator=(const PgConnection&) = delete;

  // Begins anew, whatever there was; a transaction under way is rolled back by the server.
  absl::Status Connect();
  // Connects when the connection was lost. Not to be called inside a transaction, which is lost with it.
  absl::Status Restore();
  // False: it was never made, or was lost.
  bool alive() const { return PQstatus(connection_.get()) == CONNECTION_OK; }
  // Counts connections: what was prepared on an earlier one is gone.
  uint64_t generation() const { return generation_; }
  // Counts the connections of this process that Restore found lost.
  static uint64_t connections_lost();

  // Runs SQL without parameters, several statements at once too; the last one's result.
  absl::StatusOr<PgResult> Execute(const char* sql);
  // The result of a call on this connection, or its error.
  absl::StatusOr<PgResult> Check(PGresult* result) const;

  // Counts the rows that were changed, for who runs statements on the handle.
  void AddChangedRows(int64_t rows) { changed_rows_ += rows; }
  int64_t changed_rows() const { return changed_rows_; }

  PGconn* handle() const { return connection_.get(); }

 private:
  struct Deleter {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };

  absl::Status SetUp();

  const std::string url_;
  const Target target_;
  std::unique_ptr<PGconn, Deleter> connection_;
  uint64_t generation_ = 0;
  int64_t changed_rows_ = 0;
};

}  // namespace telemetry::storage
