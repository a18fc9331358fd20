#pragma once

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

// A lease, and the collector that keeps it.
struct LeaseOptions {
  CacheClientOptions cache;
  // The piece of work, 1 to 1024 bytes. Holders of one name exclude each other if they have tokens of one name, or if
  // the collector uses no tokens.
  std::string name;
  // The time after which another may take over from a holder that has died, by the collector's clock. Every program
  // that uses the name should state the same duration.
  absl::Duration duration = absl::Seconds(60);
};

// A lease by which at most one of several programs does a piece of work. Its holder renews it; if it dies, another one
// takes over after the duration. A lease saves work and does not protect data: two programs hold it at a time if the
// collector loses the entry of its cache, or if a holder cannot reach the collector for longer than the duration.
// Not thread-safe.
class Lease {
 public:
  static constexpr char kNamespace[] = "lease";

  explicit Lease(LeaseOptions options);
  // Releases the lease.
  ~Lease();
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
  absl::StatusOr<v1::PutCacheResponse> Put(const std::string& value);
  void Renew() ABSL_LOCKS_EXCLUDED(mutex_);

  const LeaseOptions options_;
  const std::string holder_;           // 16 random bytes
  std::optional<CacheClient> client_;  // replaced when the collector was absent
  absl::Mutex mutex_;
  bool is_released_ ABSL_GUARDED_BY(mutex_) = true;
  std::thread renewing_;
};

}  // namespace telemetry::client
