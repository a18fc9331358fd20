#include "server/cache/put_admission.h"

#include <algorithm>
#include <chrono>

#include "server/call/grpc_status.h"

namespace telemetry::cache {
namespace {

// The delay before a put may find room among those that wait: the writer stores them within this time.
constexpr absl::Duration kRetryDelay = absl::Milliseconds(250);

}  // namespace

uint64_t PutAdmission::CountedBytes(uint64_t bytes) const { return std::max(bytes, options_.least_bytes); }

double PutAdmission::Fill(const Bucket& bucket, SteadyTime now) const {
  const double seconds = std::chrono::duration<double>(now - bucket.filled_at).count();
  return std::min(static_cast<double>(options_.burst_bytes),
                  bucket.bytes + seconds * static_cast<double>(options_.bytes_per_second));
}

absl::Status PutAdmission::Take(const std::string& sender, uint64_t bytes, SteadyTime now) {
  const uint64_t counted = CountedBytes(bytes);
  const absl::MutexLock lock(&mutex_);
  ForgetFull(now);
  Bucket& bucket = buckets_.try_emplace(sender, Bucket{static_cast<double>(options_.burst_bytes), now}).first->second;
  bucket = {.bytes = Fill(bucket, now), .filled_at = now};
  const double missing = static_cast<double>(counted) - bucket.bytes;
  if (missing > 0) {
    ++refused_;
    return call::TryAgainLater(options_.too_much,
                               absl::Seconds(missing / static_cast<double>(options_.bytes_per_second)));
  }
  if (!waiting_.TryTake(sender, counted)) {
    ++refused_;
    return call::TryAgainLater("too many puts wait to be stored", kRetryDelay);
  }
  bucket.bytes -= static_cast<double>(counted);
  return absl::OkStatus();
}

void PutAdmission::Release(const std::string& sender, uint64_t bytes) {
  const absl::MutexLock lock(&mutex_);
  waiting_.Release(sender, CountedBytes(bytes));
}

uint64_t PutAdmission::refused() const {
  const absl::MutexLock lock(&mutex_);
  return refused_;
}

void PutAdmission::ForgetFull(SteadyTime now) {
  if (buckets_.size() <= forget_at_) return;
  absl::erase_if(buckets_, [&](const auto& entry) {
    return Fill(entry.second, now) >= static_cast<double>(options_.burst_bytes);
  });
  forget_at_ = 1024 + 2 * buckets_.size();
}

}  // namespace telemetry::cache
