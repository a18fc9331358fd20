#include "server/dataset/reader_pool.h"

#include <utility>

#include "proto/base/status_macros.h"

namespace telemetry::dataset {

absl::StatusOr<ReaderPool::Borrowed> ReaderPool::Borrow() {
  {
    absl::MutexLock lock(&mutex_);
    if (!idle_.empty()) {
      Borrowed reader(idle_.back().release(), GiveBack(this));
      idle_.pop_back();
      return reader;
    }
  }
  ASSIGN_OR_RETURN(std::unique_ptr<storage::StoreReader> opened, open_());
  return Borrowed(opened.release(), GiveBack(this));
}

void ReaderPool::GiveBack::operator()(storage::StoreReader* reader) const {
  std::unique_ptr<storage::StoreReader> owned(reader);
  absl::MutexLock lock(&pool_->mutex_);
  pool_->idle_.push_back(std::move(owned));
}

}  // namespace telemetry::dataset
