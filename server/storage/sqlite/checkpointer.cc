#include "server/storage/sqlite/checkpointer.h"

#include <sqlite3.h>

#include <algorithm>
#include <chrono>

namespace telemetry::storage::sqlite {
namespace {

// Once readers have prevented a restart of the log for this many steps, a checkpoint waits for them.
constexpr int kPatienceSteps = 2;
// A reader that was in the way may end soon, so retries are made at this fraction of a step.
constexpr int kTriesAStep = 16;
// Hard limit: at this many steps, commits block until readers release the log (once, for at most reader_patience).
constexpr int kMostSteps = 3;
// The first checkpoint of a log is made at this length (512 KiB) while the work is urgent. It takes about five
// milliseconds.
constexpr int kUrgentPages = 128;

}  // namespace

Checkpointer::Checkpointer(SqliteDatabase& database, int pages, absl::Duration reader_patience)
    : database_(database), step_pages_(pages), reader_patience_(reader_patience) {
  sqlite3_wal_hook(database_.handle(), &Checkpointer::OnWal, this);
}

Checkpointer::~Checkpointer() { sqlite3_wal_hook(database_.handle(), nullptr, nullptr); }

int Checkpointer::OnWal(void* self, sqlite3* /*handle*/, const char* /*schema*/, int pages) {
  static_cast<Checkpointer*>(self)->log_pages_ = pages;
  return SQLITE_OK;
}

absl::Status Checkpointer::AfterCommit() {
  // A log that became shorter was restarted.
  if (log_pages_ < tried_at_pages_) {
    tried_at_pages_ = 0;
    waited_ = false;
  }
  if (log_pages_ >= kMostSteps * step_pages_ && !waited_) return AwaitReaders();
  const int first_pages = urgent_ ? std::min(step_pages_, kUrgentPages) : step_pages_;
  const int pages_to_next = tried_at_pages_ == 0 ? first_pages : std::max(1, step_pages_ / kTriesAStep);
  if (log_pages_ < tried_at_pages_ + pages_to_next) return absl::OkStatus();
  const bool a_step_on = log_pages_ / step_pages_ > tried_at_pages_ / step_pages_;
  tried_at_pages_ = log_pages_;
  const bool wait = a_step_on && log_pages_ > kPatienceSteps * step_pages_;
  return Run(wait ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE);
}

absl::Status Checkpointer::AwaitReaders() {
  tried_at_pages_ = log_pages_;
  const auto until = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(reader_patience_);
  while (std::chrono::steady_clock::now() < until) {
    const int code = sqlite3_wal_checkpoint_v2(database_.handle(), "main", SQLITE_CHECKPOINT_RESTART, nullptr, nullptr);
    if (code == SQLITE_OK) return absl::OkStatus();
    if ((code & 0xff) != SQLITE_BUSY) return SqliteStatus(database_.handle(), code);
  }
  waited_ = true;
  return absl::OkStatus();
}

absl::Status Checkpointer::Idle() {
  if (log_pages_ == 0) return absl::OkStatus();
  log_pages_ = 0;
  tried_at_pages_ = 0;
  return Run(SQLITE_CHECKPOINT_TRUNCATE);
}

absl::Status Checkpointer::Run(int mode) {
  const int code = sqlite3_wal_checkpoint_v2(database_.handle(), "main", mode, nullptr, nullptr);
  if (code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY) return absl::OkStatus();
  // The disk has no space to extend the database. All pages stay in the log, as after a crash during a checkpoint.
  if (code == SQLITE_FULL) return absl::OkStatus();
  return SqliteStatus(database_.handle(), code);
}

}  // namespace telemetry::storage::sqlite
