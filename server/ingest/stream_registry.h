#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/call/limits.h"

namespace telemetry::ingest {

// The timeout that a stream exceeded.
enum class Overdue { kNothing, kOpen, kMessage, kReading };

// A stream that another stream of the same producer can replace.
class ProducerStream {
 public:
  // Ends the stream with this status after the records read from it are committed. Does not block.
  virtual void EndAfterCommit(absl::Status status) = 0;

 protected:
  ~ProducerStream() = default;
};

// The registry of the ingest streams and of the current stream of each producer. Thread-safe. The registry ends streams
// under its lock, so that a stream that has removed itself is never touched again. Therefore a stream must not call the
// registry, except for Count, while it holds a lock that its EndAfterCommit acquires.
class StreamRegistry {
 public:
  // `limits` must outlive the registry.
  explicit StreamRegistry(const call::Limits& limits) : limits_(limits) {}

  // Registers the producer of a stream. Returns RESOURCE_EXHAUSTED with RetryInfo if the producer has
  // max_streams_per_producer streams.
  absl::Status Claim(ProducerStream* stream, const std::string& producer_id) ABSL_LOCKS_EXCLUDED(mutex_);
  void Remove(ProducerStream* stream) ABSL_LOCKS_EXCLUDED(mutex_);

  // The numbers of streams refused or ended so far.
  struct Counts {
    uint64_t too_many_of_producer = 0;
    uint64_t no_open = 0;
    uint64_t idle = 0;
    uint64_t unread = 0;
  };
  Counts counts() const ABSL_LOCKS_EXCLUDED(counts_mutex_);
  // Counts a stream that ends because its client exceeded a timeout. Must be called before the client can notice the
  // end, so that the metrics include every end that a client has seen.
  void Count(Overdue overdue) ABSL_LOCKS_EXCLUDED(counts_mutex_);

  // Makes `stream` (nullptr: a unary call) the current stream of the producer, unless the stream was removed. Ends the
  // previous one: with FAILED_PRECONDITION if its epoch is lower, otherwise with ABORTED.
  void TakeOver(const std::string& producer_id, uint64_t epoch, ProducerStream* stream) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Speaker {
    ProducerStream* stream;
    uint64_t epoch;
  };

  const call::Limits& limits_;
  absl::Mutex mutex_;
  // The producer of each stream, and the number of streams of each producer.
  absl::flat_hash_map<ProducerStream*, std::string> streams_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, uint64_t> of_producer_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, Speaker> speakers_ ABSL_GUARDED_BY(mutex_);
  mutable absl::Mutex counts_mutex_;  // acquired last; no other lock is acquired under it
  Counts counts_ ABSL_GUARDED_BY(counts_mutex_);
};

}  // namespace telemetry::ingest
