#pragma once

#include <cstdint>

namespace telemetry::storage::tables {

// Memory limits of the writer's caches. The collector keeps no other caches from one transaction to the next.
inline constexpr uint64_t kConfigKeyCacheBytes = uint64_t{8} << 20;
inline constexpr uint64_t kArgumentCacheBytes = uint64_t{8} << 20;
inline constexpr uint64_t kKeyListCacheBytes = uint64_t{1} << 20;
inline constexpr uint64_t kStatusCacheBytes = uint64_t{256} << 10;
inline constexpr uint64_t kRunCacheBytes = uint64_t{4} << 20;
inline constexpr uint64_t kAttemptCacheBytes = uint64_t{4} << 20;
inline constexpr uint64_t kSenderCacheBytes = uint64_t{256} << 10;
inline constexpr uint64_t kProducerCacheBytes = uint64_t{4} << 20;

static_assert(kConfigKeyCacheBytes + kArgumentCacheBytes + kKeyListCacheBytes + kStatusCacheBytes + kRunCacheBytes +
                  kAttemptCacheBytes + kSenderCacheBytes + kProducerCacheBytes <=
              uint64_t{32} << 20);

}  // namespace telemetry::storage::tables
