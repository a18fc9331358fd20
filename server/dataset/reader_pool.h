#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/storage/store.h"

namespace telemetry::dataset {

// A pool of dataset readers that stay open between calls, because each connection to PostgreSQL costs a server process.
// The pool keeps as many readers as were ever in use at a time; the number of the callers' threads bounds it. Must
// outlive the readers that it lends. Thread-safe.
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
  // A borrowed reader. One thread at a time may use it.
  using Borrowed = std::unique_ptr<storage::StoreReader, GiveBack>;

  explicit ReaderPool(Open open) : open_(std::move(open)) {}

  // Returns an idle reader or a new one. Errors: those of opening a reader.
  absl::StatusOr<Borrowed> Borrow() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  const Open open_;
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<storage::StoreReader>> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::dataset
