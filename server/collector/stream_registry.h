#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace telemetry::collector {

// A stream that can be told to end.
class EndableStream {
 public:
  // Ends it with this status, after what was read from it is committed. Does not block.
  virtual void End(absl::Status status) = 0;
  // Why it must not go on any longer: what let it in is not valid any more. Does not block.
  virtual absl::Status Recheck() const = 0;

 protected:
  ~EndableStream() = default;
};

// The live ingest streams, and which of them speaks for which producer. Thread-safe. Streams are ended under the
// registry's lock, so that a stream which has removed itself is never touched again; a stream must not call in here
// while it holds a lock that its End takes.
class StreamRegistry {
 public:
  // A stream begins. While draining it is ended at once.
  void Add(EndableStream* stream) ABSL_LOCKS_EXCLUDED(mutex_);
  void Remove(EndableStream* stream) ABSL_LOCKS_EXCLUDED(mutex_);
  size_t size() const ABSL_LOCKS_EXCLUDED(mutex_);

  // `stream` (nullptr: a unary call) speaks for this producer from now on; who did so before is ended:
  // FAILED_PRECONDITION when its epoch is lower, else ABORTED.
  void TakeOver(const std::string& producer_id, uint64_t epoch, EndableStream* stream) ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends those that must not go on.
  void Recheck() ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends all streams with UNAVAILABLE, those too that begin later.
  void Drain() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Speaker {
    EndableStream* stream;
    uint64_t epoch;
  };

  mutable absl::Mutex mutex_;
  absl::flat_hash_set<EndableStream*> streams_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, Speaker> speakers_ ABSL_GUARDED_BY(mutex_);
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace telemetry::collector
