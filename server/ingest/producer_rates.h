#pragma once

#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/clock/steady.h"

namespace telemetry::collector {

// How fast each producer sends: a bucket that fills with `bytes_per_second`, up to a second's worth. Whoever takes more
// than there is waits until it would be there. Outlives the producers' streams, so that a new one is no new bucket.
// Thread-safe.
class ProducerRates {
 public:
  explicit ProducerRates(uint64_t bytes_per_second) : bytes_per_second_(static_cast<double>(bytes_per_second)) {}

  // Takes the bytes and returns how long their producer has to wait before it sends more; zero: not at all.
  absl::Duration Take(const std::string& producer_id, uint64_t bytes, SteadyTime now) ABSL_LOCKS_EXCLUDED(mutex_);

  // How often somebody had to wait so far.
  uint64_t delays() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Producers whose buckets are remembered.
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

}  // namespace telemetry::collector
