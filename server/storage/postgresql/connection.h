#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace telemetry::storage::postgresql {

// Deletes a PGresult.
struct PgResultDeleter {
  void operator()(PGresult* result) const { PQclear(result); }
};
using PgResult = std::unique_ptr<PGresult, PgResultDeleter>;

// A connection to a PostgreSQL server that can be re-established, for example after a restart of the server. Used by
// one thread at a time.
//
// Errors: UNAVAILABLE if the server cannot be reached, the connection was lost, or the server is out of resources.
// ABORTED if another transaction was in the way; the same transaction may succeed when it is repeated.
// PERMISSION_DENIED and NOT_FOUND for the user and the database. DATA_LOSS if the server found its files damaged.
// INTERNAL for anything else. No message contains a password.
class PgConnection {
 public:
  // The server to choose if a URL names several hosts: the first one that answers, or the first one that accepts
  // writes. kReadWrite also applies to a single host whose role may change.
  enum class Target { kAny, kReadWrite };

  // `url` is postgresql://..., or any other form that libpq accepts. Parameters that it omits come from libpq's usual
  // sources: PG* variables, the service file and the password file.
  explicit PgConnection(std::string url, Target target = Target::kAny);
  PgConnection(const PgConnection&) = delete;
  PgConnection& operator=(const PgConnection&) = delete;

  // Opens a new connection, whether there was one or not. The server rolls back a transaction in progress.
  absl::Status Connect();
  // Connects again if the connection was lost. Must not be called inside a transaction, which would be lost with the
  // connection.
  absl::Status Restore();
  // Replaces a connection that was found to be lost. Must not be called inside a transaction either.
  absl::Status Reconnect();
  // Returns false if no connection was made or the connection was lost.
  bool alive() const { return PQstatus(connection_.get()) == CONNECTION_OK; }
  // Counts connections. Statements prepared on an earlier one no longer exist.
  uint64_t generation() const { return generation_; }
  // Counts the lost connections of this process that were replaced.
  static uint64_t connections_lost();

  // Runs one or more SQL statements without parameters. Returns the result of the last one.
  absl::StatusOr<PgResult> Execute(const char* sql);
  // Sends a SQL statement whose result does not matter, and does not wait for it. The next statement waits.
  void Send(const char* sql);
  // Returns the result of a libpq call on this connection, or its error.
  absl::StatusOr<PgResult> Check(PGresult* result) const;

  // Adds to the count of changed rows, for callers that run statements on handle().
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

}  // namespace telemetry::storage::postgresql
