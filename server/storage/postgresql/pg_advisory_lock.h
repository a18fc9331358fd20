#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/postgresql/pg_database.h"

namespace telemetry::storage::postgresql {

// The tasks that only one collector of a dataset does at a time. Advisory locks share one number space per database, so
// the numbers were chosen at random.
enum class PgTask : int64_t {
  kCountTime = 3290141785540092716,
  kPrune = 8115602334917743093,
};

// A lock for a task, held by this connection. The server releases the lock when the connection ends, also if the
// process was killed. Not thread-safe.
class PgAdvisoryLock {
 public:
  // `database` must outlive this object.
  PgAdvisoryLock(PgDatabase& database, PgTask task) : database_(database), task_(task) {}

  // Returns true if the lock is held, or could be acquired without waiting. Also allowed in a transaction; the lock
  // survives a rollback.
  absl::StatusOr<bool> TryHold();
  // Returns true if the lock was acquired on the current connection.
  bool is_held() const;
  // Releases the lock, if it is held.
  absl::Status Release();

 private:
  PgDatabase& database_;
  const PgTask task_;
  uint64_t held_on_ = 0;  // the generation of the connection; 0: not acquired
};

}  // namespace telemetry::storage::postgresql
