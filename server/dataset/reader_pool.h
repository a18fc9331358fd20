#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/storage/store.h"

namespace telemetry::collector {

// Readers of the dataset that stay open between calls: a connection to a PostgreSQL server costs a process there. As
// many as were ever used at once, which its callers' threads bound. Thread-safe; outlives what it lends.
class ReaderPool {
 public:
  using Open = std::function<absl::StatusOr<std::unique_ptr<storage::StoreReader>>()>;

  class GiveBack {
   public:
    explicit GiveBack(ReaderPool* pool = nullptr) : pool_(pool) {}
    void operator()(storage::StoreReader* reader) const;

   private:
    ReaderPool* pool_;
  };
  // Of one thread at a time.
  using Borrowed = std::unique_ptr<storage::StoreReader, GiveBack>;

  explicit ReaderPool(Open open) : open_(std::move(open)) {}

  // One that nobody uses, or a new one. Errors: those of opening it.
  absl::StatusOr<Borrowed> Borrow() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  const Open open_;
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<storage::StoreReader>> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::collector
