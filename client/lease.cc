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

Lease::Lease(LeaseOptions options) : options_(std::move(options)), holder_(NewProducerId()) {}

Lease::~Lease() { Release(); }

absl::StatusOr<v1::PutCacheResponse> Lease::Put(const std::string& value) {
  if (!client_.has_value() || client_->is_absent()) client_.emplace(options_.cache);
  v1::PutCacheRequest request;
  request.mutable_entry()->set_namespace_(kNamespace);
  request.mutable_entry()->set_key(options_.name);
  request.mutable_entry()->set_value(value);
  request.mutable_condition()->add_values(holder_);
  request.mutable_condition()->add_values(kFree);
  request.mutable_condition()->set_max_age_us(absl::ToInt64Microseconds(options_.duration));
  return client_->Put(request);
}

absl::StatusOr<absl::Duration> Lease::TryTake() {
  ASSIGN_OR_RETURN(const v1::PutCacheResponse response, Put(holder_));
  if (response.has_kept()) {
    const absl::Duration left = options_.duration - absl::Microseconds(response.kept_age_us());
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
      if (mutex_.AwaitWithTimeout(absl::Condition(&is_released_), options_.duration / kRenewals)) return;
    }
    const absl::StatusOr<v1::PutCacheResponse> response = Put(holder_);
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
  Put(kFree).IgnoreError();
}

}  // namespace telemetry::client
