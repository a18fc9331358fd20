#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/call/limits.h"

namespace telemetry::collector {

// Why a stream was ended for the time that something took.
enum class Overdue { kNothing, kOpen, kMessage, kReading };

// A stream that another one can take over from.
class ProducerStream {
 public:
  // Ends it with this status, after what was read from it is committed. Does not block.
  virtual void EndAfterCommit(absl::Status status) = 0;

 protected:
  ~ProducerStream() = default;
};

// The ingest streams by producer, and which of them speaks for which producer. Thread-safe. Streams are ended under the
// registry's lock, so that a stream which has removed itself is never touched again; a stream must not call in here
// while it holds a lock that its EndAfterCommit takes.
class StreamRegistry {
 public:
  // `limits` outlives the registry.
  explicit StreamRegistry(const Limits& limits) : limits_(limits) {}

  // A stream says whose it is. RESOURCE_EXHAUSTED with RetryInfo: the producer has max_streams_per_producer.
  absl::Status Claim(ProducerStream* stream, const std::string& producer_id) ABSL_LOCKS_EXCLUDED(mutex_);
  void Remove(ProducerStream* stream) ABSL_LOCKS_EXCLUDED(mutex_);

  // How many were turned away or ended so far.
  struct Counts {
    uint64_t too_many_of_producer = 0;
    uint64_t no_open = 0;
    uint64_t idle = 0;
    uint64_t unread = 0;
  };
  Counts counts() const ABSL_LOCKS_EXCLUDED(mutex_);
  // A stream ends, or was ended, because its client took too long.
  void Count(Overdue overdue) ABSL_LOCKS_EXCLUDED(mutex_);

  // `stream` (nullptr: a unary call) speaks for this producer from now on, unless it was removed; who did so before is
  // ended: FAILED_PRECONDITION when its epoch is lower, else ABORTED.
  void TakeOver(const std::string& producer_id, uint64_t epoch, ProducerStream* stream) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Speaker {
    ProducerStream* stream;
    uint64_t epoch;
  };

  const Limits& limits_;
  mutable absl::Mutex mutex_;
  // Each with its producer, and how many a producer has.
  absl::flat_hash_map<ProducerStream*, std::string> streams_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, uint64_t> of_producer_ ABSL_GUARDED_BY(mutex_);
  Counts counts_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, Speaker> speakers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::collector
