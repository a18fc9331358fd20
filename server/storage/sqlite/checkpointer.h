#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::storage::sqlite {

// Checkpoints the write-ahead log on the writer's own connection. Under load it checkpoints after every `pages` pages,
// or fewer while the work is urgent, without waiting for readers, and retries soon if a reader was in the way. When the
// writer is idle, it truncates the log to zero bytes. Uses the connection's WAL hook. Used by one thread, outside of
// transactions.
class Checkpointer {
 public:
  // `database` must outlive this object. For `reader_patience` see WriterOptions.
  Checkpointer(SqliteDatabase& database, int pages, absl::Duration reader_patience);
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  // Must be called after each commit. Returns I/O errors only; a reader in the way, or no disk space to extend the
  // database, is not an error.
  absl::Status AfterCommit();
  // Sets whether a checkpoint should be short, at the expense of the throughput.
  void SetUrgent(bool urgent) { urgent_ = urgent; }
  // Must be called when the writer is idle.
  absl::Status Idle();

  // Frames in the log after the last commit. 0: the log has been emptied since, or nothing was committed.
  int log_pages() const { return log_pages_; }

 private:
  static int OnWal(void* self, sqlite3* handle, const char* schema, int pages);
  absl::Status Run(int mode);
  absl::Status AwaitReaders();

  SqliteDatabase& database_;
  const int step_pages_;
  const absl::Duration reader_patience_;
  bool urgent_ = false;
  bool waited_ = false;     // has already waited for readers in vain since the log was restarted
  int log_pages_ = 0;       // frames in the log after the last commit
  int tried_at_pages_ = 0;  // the log length at the last checkpoint; 0: none since the log was restarted
};

}  // namespace telemetry::storage::sqlite
