#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "proto/clock/steady.h"
#include "server/collector/limits.h"

namespace telemetry::collector {

// Why a stream was ended for the time that something took.
enum class Overdue { kNothing, kOpen, kMessage, kReading };

// A stream that can be told to end.
class EndableStream {
 public:
  // Ends it with this status, after what was read from it is committed. Does not block.
  virtual void End(absl::Status status) = 0;
  // Why it must not go on any longer: what let it in is not valid any more. Does not block.
  virtual absl::Status Recheck() const = 0;
  // Ends it when its client takes too long over something. Does not block.
  virtual Overdue CheckTime(SteadyTime now) = 0;

 protected:
  ~EndableStream() = default;
};

// The live ingest streams, and which of them speaks for which producer. Thread-safe. Streams are ended under the
// registry's lock, so that a stream which has removed itself is never touched again; a stream must not call in here
// while it holds a lock that its End takes.
class StreamRegistry {
 public:
  // `limits` outlives the registry.
  explicit StreamRegistry(const Limits& limits) : limits_(limits) {}

  // A stream begins. While draining it is ended at once. RESOURCE_EXHAUSTED with RetryInfo: there are max_streams.
  absl::Status Add(EndableStream* stream) ABSL_LOCKS_EXCLUDED(mutex_);
  // A stream says whose it is. RESOURCE_EXHAUSTED with RetryInfo: the producer has max_streams_per_producer.
  absl::Status Claim(EndableStream* stream, const std::string& producer_id) ABSL_LOCKS_EXCLUDED(mutex_);
  void Remove(EndableStream* stream) ABSL_LOCKS_EXCLUDED(mutex_);
  size_t size() const ABSL_LOCKS_EXCLUDED(mutex_);

  // How many were turned away or ended so far.
  struct Counts {
    uint64_t too_many = 0;
    uint64_t too_many_of_producer = 0;
    uint64_t no_open = 0;
    uint64_t idle = 0;
    uint64_t unread = 0;
  };
  Counts counts() const ABSL_LOCKS_EXCLUDED(mutex_);
  // A stream ends, or was ended, because its client took too long.
  void Count(Overdue overdue) ABSL_LOCKS_EXCLUDED(mutex_);

  // `stream` (nullptr: a unary call) speaks for this producer from now on; who did so before is ended:
  // FAILED_PRECONDITION when its epoch is lower, else ABORTED.
  void TakeOver(const std::string& producer_id, uint64_t epoch, EndableStream* stream) ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends those that must not go on.
  void Recheck() ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends those whose clients take too long.
  void CheckTimes(SteadyTime now) ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends all streams with UNAVAILABLE, those too that begin later.
  void Drain() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Speaker {
    EndableStream* stream;
    uint64_t epoch;
  };

  void CountLocked(Overdue overdue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Limits& limits_;
  mutable absl::Mutex mutex_;
  // Each with its producer, once that is known; and how many a producer has.
  absl::flat_hash_map<EndableStream*, std::string> streams_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, uint64_t> of_producer_ ABSL_GUARDED_BY(mutex_);
  Counts counts_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, Speaker> speakers_ ABSL_GUARDED_BY(mutex_);
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace telemetry::collector
