#include "server/storage/checkpointer.h"

#include <sqlite3.h>

namespace telemetry::storage {
namespace {

// A log that readers have kept from being reused for this many steps is worth waiting for them.
constexpr int kPatienceSteps = 8;

}  // namespace

Checkpointer::Checkpointer(Database& database, int pages)
    : database_(database), step_pages_(pages), next_at_pages_(pages) {
  sqlite3_wal_hook(database_.handle(), &Checkpointer::OnWal, this);
}

Checkpointer::~Checkpointer() { sqlite3_wal_hook(database_.handle(), nullptr, nullptr); }

int Checkpointer::OnWal(void* self, sqlite3* /*handle*/, const char* /*schema*/, int pages) {
  static_cast<Checkpointer*>(self)->log_pages_ = pages;
  return SQLITE_OK;
}

absl::Status Checkpointer::AfterCommit() {
  // A log that became short again was begun anew.
  if (log_pages_ < next_at_pages_ - step_pages_) next_at_pages_ = step_pages_;
  if (log_pages_ < next_at_pages_) return absl::OkStatus();
  next_at_pages_ = log_pages_ + step_pages_;
  return Run(log_pages_ > kPatienceSteps * step_pages_ ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE);
}

absl::Status Checkpointer::Idle() {
  if (log_pages_ == 0) return absl::OkStatus();
  log_pages_ = 0;
  next_at_pages_ = step_pages_;
  return Run(SQLITE_CHECKPOINT_TRUNCATE);
}

absl::Status Checkpointer::Run(int mode) {
  const int code = sqlite3_wal_checkpoint_v2(database_.handle(), "main", mode, nullptr, nullptr);
  if (code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY) return absl::OkStatus();
  return SqliteStatus(database_.handle(), code);
}

}  // namespace telemetry::storage
