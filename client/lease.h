#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/cache_client.h"

namespace telemetry::client {

// A lease by which at most one of several programs does a piece of work. Its holder renews it; if the holder dies,
// another one takes over after kDuration. A lease saves work and does not protect data: two programs hold it at a time
// if the collector loses the entry of its cache, or if a holder cannot reach the collector for longer than kDuration.
// Programs exclude each other if they have tokens of one name, or if the collector uses no tokens. Not thread-safe.
class Lease {
 public:
  static constexpr char kNamespace[] = "lease";
  // By the collector's clock. It is the longest time that anyone waits for a holder that has died.
  static constexpr absl::Duration kDuration = absl::Seconds(60);

  // `name` names the piece of work: 1 to 1024 bytes. `cache` must outlive the lease. Tests set another duration, of at
  // least 1 us.
  Lease(CacheClient& cache, std::string name, absl::Duration duration = kDuration);
  // Releases the lease.
  ~Lease() { Release(); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  // Takes the lease if it is free. Returns zero if it is held now: a thread renews it until Release(). Otherwise
  // returns the time after which it ends unless its holder renews it. Must not be called while it is held. Returns
  // errors of CacheClient::Put.
  absl::StatusOr<absl::Duration> TryTake() ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends the renewal, and frees the lease if it is held. An error is ignored: then the lease ends by itself.
  void Release() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Stores the entry with this value if the lease is free or was held by this object.
  absl::StatusOr<v1::PutCacheResponse> Put(CacheClient& cache, const std::string& value) const;
  // Does so with another connection if the collector did not answer the last one: it may be back.
  absl::StatusOr<v1::PutCacheResponse> PutAgain(const std::string& value);
  void Renew() ABSL_LOCKS_EXCLUDED(mutex_);

  CacheClient& cache_;
  std::optional<CacheClient> replacement_;
  const std::string name_;
  const absl::Duration duration_;
  const std::string holder_;  // 16 random bytes
  absl::Mutex mutex_;
  bool is_released_ ABSL_GUARDED_BY(mutex_) = true;
  std::thread renewing_;
};

}  // namespace telemetry::client
