#pragma once

#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"

namespace telemetry::ingest {

// Rate limits of the producers: one token bucket per producer, which fills with `bytes_per_second` up to one second's
// worth. A producer that takes more than its bucket holds must wait until the bucket would have held it. The buckets
// outlive the streams, so that a new stream does not get a full bucket. Thread-safe.
class ProducerRates {
 public:
  explicit ProducerRates(uint64_t bytes_per_second) : bytes_per_second_(static_cast<double>(bytes_per_second)) {}

  // Takes `bytes` from the bucket and returns how long the producer must wait before it sends more, or zero.
  absl::Duration Take(const std::string& producer_id, uint64_t bytes, SteadyTime now) ABSL_LOCKS_EXCLUDED(mutex_);

  // The number of times that a producer had to wait so far.
  uint64_t delays() const ABSL_LOCKS_EXCLUDED(mutex_);
  // The number of buckets in memory.
  size_t size() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Bucket {
    double bytes;
    SteadyTime filled_at;
  };

  double Fill(const Bucket& bucket, SteadyTime now) const;

  const double bytes_per_second_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, Bucket> buckets_ ABSL_GUARDED_BY(mutex_);
  size_t forget_at_ ABSL_GUARDED_BY(mutex_) = 1024;
  uint64_t delays_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace telemetry::ingest
