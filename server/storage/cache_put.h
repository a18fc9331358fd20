#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "telemetry/v1/cache.pb.h"

namespace telemetry::storage {

// Limits of the cache that tuners share.
struct CacheBudget {
  // The most bytes of all entries. 0: no entry is stored.
  uint64_t total_bytes = uint64_t{256} << 20;
  // The most bytes of one sender's entries. 0: a quarter of total_bytes.
  uint64_t sender_bytes = 0;
  // Older entries, by the collector's clock, are neither served nor kept. A wrong clock costs entries, but a cache may
  // lose entries.
  absl::Duration max_age = absl::Hours(90 * 24);

  uint64_t of_sender() const { return sender_bytes == 0 ? total_bytes / 4 : sender_bytes; }
};

// The bytes for which an entry is charged beyond its texts and its value: the row and its places in the indexes.
inline constexpr uint64_t kCacheEntryBaseBytes = 512;

// The longest values that a PutCondition is compared with.
inline constexpr uint64_t kMaxConditionBytes = 1024;

// Returns the bytes that an entry is charged for.
inline uint64_t CacheEntryBytes(const v1::CacheEntry& entry) {
  return kCacheEntryBaseBytes + entry.namespace_().size() + entry.key().size() + entry.hardware().size() +
         entry.versions_json().size() + entry.value().size();
}

// An entry to store. The fields of `entry` are within the limits of cache.proto.
struct CachePut {
  std::string sender;  // not empty
  v1::CacheEntry entry;
  std::optional<v1::PutCondition> condition = std::nullopt;
};

// The result of one CachePut.
struct CachePutOutcome {
  // RESOURCE_EXHAUSTED: the entry is larger than a budget, or there are too many senders. Nothing was changed then.
  absl::Status status;
  uint64_t removed = 0;  // entries that were removed to make room, or because of their age
  // The sender's entry that does not fulfil the condition, and its age; nothing was changed then.
  std::optional<v1::CacheEntry> kept = std::nullopt;
  int64_t kept_age_us = 0;
};

}  // namespace telemetry::storage
