#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "telemetry/v1/cache.pb.h"

namespace telemetry::cache {

// The limits of the fields in cache.proto.
inline constexpr uint64_t kMaxValueBytes = uint64_t{1} << 20;
inline constexpr uint64_t kMaxNamespaceBytes = 128;
inline constexpr uint64_t kMaxKeyBytes = 1024;
inline constexpr uint64_t kMaxHardwareBytes = 256;
inline constexpr uint64_t kMaxVersionsBytes = uint64_t{4} << 10;
inline constexpr uint64_t kMaxSenderBytes = 1024;
inline constexpr int kMaxSenders = 16;
inline constexpr int kMaxConditionValues = 4;
// The most bytes of a request. A larger one is refused unparsed.
inline constexpr uint64_t kMaxRequestBytes = kMaxValueBytes + (uint64_t{32} << 10);

// Return INVALID_ARGUMENT, with the name of the field, if a field is outside its limits. Thread-safe.
absl::Status CheckRequest(const v1::GetCacheRequest& request);
absl::Status CheckRequest(const v1::ListCacheRequest& request);
absl::Status CheckRequest(const v1::PutCacheRequest& request);

}  // namespace telemetry::cache
