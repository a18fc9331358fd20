#include "client/lease.h"

#include <algorithm>
#include <utility>

#include "client/spool_meta.h"
#include "proto/base/status_macros.h"

namespace telemetry::client {
namespace {

// The value of the entry of a lease that nobody holds.
constexpr char kFree[] = "free";
// The holder tries this many times within the duration.
constexpr int kRenewals = 3;

}  // namespace

Lease::Lease(CacheClient& cache, std::string name, absl::Duration duration)
    : cache_(cache), name_(std::move(name)), duration_(duration), holder_(NewProducerId()) {}

absl::StatusOr<v1::PutCacheResponse> Lease::Put(CacheClient& cache, const std::string& value) const {
  v1::PutCacheRequest request;
  request.mutable_entry()->set_namespace_(kNamespace);
  request.mutable_entry()->set_key(name_);
  request.mutable_entry()->set_value(value);
  request.mutable_condition()->add_values(holder_);
  request.mutable_condition()->add_values(kFree);
  request.mutable_condition()->set_max_age_us(absl::ToInt64Microseconds(duration_));
  return cache.Put(request);
}

absl::StatusOr<v1::PutCacheResponse> Lease::PutAgain(const std::string& value) {
  const bool is_absent = replacement_.has_value() ? replacement_->is_absent() : cache_.is_absent();
  if (is_absent) replacement_.emplace(cache_.options());
  return Put(replacement_.has_value() ? *replacement_ : cache_, value);
}

absl::StatusOr<absl::Duration> Lease::TryTake() {
  ASSIGN_OR_RETURN(const v1::PutCacheResponse response, Put(cache_, holder_));
  if (response.has_kept()) {
    const absl::Duration left = duration_ - absl::Microseconds(response.kept_age_us());
    return std::max(left, absl::Milliseconds(1));
  }
  const absl::MutexLock lock(&mutex_);
  is_released_ = false;
  renewing_ = std::thread([this] { Renew(); });
  return absl::ZeroDuration();
}

void Lease::Renew() {
  while (true) {
    {
      const absl::MutexLock lock(&mutex_);
      if (mutex_.AwaitWithTimeout(absl::Condition(&is_released_), duration_ / kRenewals)) return;
    }
    const absl::StatusOr<v1::PutCacheResponse> response = PutAgain(holder_);
    // Another has taken over: this process was stopped for a while.
    if (response.ok() && response->has_kept()) return;
  }
}

void Lease::Release() {
  if (!renewing_.joinable()) return;
  {
    const absl::MutexLock lock(&mutex_);
    is_released_ = true;
  }
  renewing_.join();
  PutAgain(kFree).IgnoreError();
}

}  // namespace telemetry::client
