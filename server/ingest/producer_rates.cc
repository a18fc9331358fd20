#include "server/ingest/producer_rates.h"

#include <algorithm>

namespace telemetry::ingest {

double ProducerRates::Fill(const Bucket& bucket, SteadyTime now) const {
  const double seconds = std::chrono::duration<double>(now - bucket.filled_at).count();
  return std::min(bytes_per_second_, bucket.bytes + seconds * bytes_per_second_);
}

absl::Duration ProducerRates::Take(const std::string& producer_id, uint64_t bytes, SteadyTime now) {
  absl::MutexLock lock(&mutex_);
  Bucket& bucket = buckets_.try_emplace(producer_id, Bucket{bytes_per_second_, now}).first->second;
  bucket.bytes = Fill(bucket, now) - static_cast<double>(bytes);
  bucket.filled_at = now;
  const double missing = -bucket.bytes;
  if (buckets_.size() > forget_at_) {
    // A full bucket equals a new one.
    absl::erase_if(buckets_, [&](const auto& entry) { return Fill(entry.second, now) >= bytes_per_second_; });
    forget_at_ = 1024 + 2 * buckets_.size();
  }
  if (missing <= 0) return absl::ZeroDuration();
  ++delays_;
  return absl::Seconds(missing / bytes_per_second_);
}

uint64_t ProducerRates::delays() const {
  absl::MutexLock lock(&mutex_);
  return delays_;
}

size_t ProducerRates::size() const {
  absl::MutexLock lock(&mutex_);
  return buckets_.size();
}

}  // namespace telemetry::ingest
