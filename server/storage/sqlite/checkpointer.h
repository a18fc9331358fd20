#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::storage {

// Moves the write-ahead log into the database file, on the writer's own connection: in steady state after so many
// pages, without waiting for readers, and where one was in the way again soon; when the writer is idle, down to an
// empty log. Uses the connection's WAL hook. One thread, outside of transactions.
class Checkpointer {
 public:
  // `database` must outlive this.
  // `reader_patience`: WriterOptions.
  Checkpointer(SqliteDatabase& database, int pages, absl::Duration reader_patience);
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  // After each commit. An error is the disk's; a reader in the way, or no room to make the database longer, is none.
  absl::Status AfterCommit();
  // When nothing is to be done.
  absl::Status Idle();

  // Frames in the log after the last commit; 0: it has been emptied since, or nothing was committed.
  int log_pages() const { return log_pages_; }

 private:
  static int OnWal(void* self, sqlite3* handle, const char* schema, int pages);
  absl::Status Run(int mode);
  absl::Status AwaitReaders();

  SqliteDatabase& database_;
  const int step_pages_;
  const absl::Duration reader_patience_;
  bool waited_ = false;     // in vain, since the log was begun anew
  int log_pages_ = 0;       // in the log, after the last commit
  int tried_at_pages_ = 0;  // the log length at the last checkpoint; 0: none since it was begun anew
};

}  // namespace telemetry::storage
