#pragma once

#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"
#include "server/call/sender_shares.h"

namespace telemetry::cache {

// The limits on the puts that wait for the writer, which are in memory, and on the rate of each sender's puts.
// Thread-safe.
class PutAdmission {
 public:
  struct Options {
    // The most bytes of all waiting puts. One sender may have half of them.
    uint64_t waiting_bytes = uint64_t{8} << 20;
    // The average rate of one sender's puts. A sender that was silent may exceed it for the bytes of `burst_bytes`.
    uint64_t bytes_per_second = uint64_t{2} << 20;
    uint64_t burst_bytes = uint64_t{8} << 20;
    // The least bytes that a put counts for: 128 puts a second.
    uint64_t least_bytes = uint64_t{16} << 10;
    // The message of the error if a sender exceeds its rate.
    const char* too_much = "this sender puts too many or too large entries into the cache";
  };

  explicit PutAdmission(const Options& options) : options_(options), waiting_(options.waiting_bytes) {}

  // Takes room for a put of this many bytes until Release is called for it. RESOURCE_EXHAUSTED with RetryInfo: the
  // sender puts too much, or too many puts wait; nothing was taken.
  absl::Status Take(const std::string& sender, uint64_t bytes, SteadyTime now) ABSL_LOCKS_EXCLUDED(mutex_);
  void Release(const std::string& sender, uint64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);

  // The number of puts refused so far.
  uint64_t refused() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // The bytes that a sender may put at once.
  struct Bucket {
    double bytes;
    SteadyTime filled_at;
  };

  uint64_t CountedBytes(uint64_t bytes) const;
  double Fill(const Bucket& bucket, SteadyTime now) const;
  // Forgets the buckets that are full, which equal new ones, when there are many.
  void ForgetFull(SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  mutable absl::Mutex mutex_;
  call::SenderShares waiting_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, Bucket> buckets_ ABSL_GUARDED_BY(mutex_);
  size_t forget_at_ ABSL_GUARDED_BY(mutex_) = 1024;
  uint64_t refused_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace telemetry::cache
