#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/storage/sql/database.h"
#include "telemetry/v1/cache.pb.h"

namespace telemetry::storage::readers {

// Returns the bytes that the entries of the cache are charged for.
absl::StatusOr<int64_t> CacheBytes(sql::Database& database);

// Return entries of the cache that were stored at or after `oldest_unix_us`. Run in the caller's read transaction. The
// fields of the requests are within the limits of cache.proto.

// Returns NOT_FOUND if there is no such entry.
absl::StatusOr<v1::CacheEntry> GetCacheEntry(sql::Database& database, const v1::GetCacheRequest& request,
                                             int64_t oldest_unix_us);
// Returns INVALID_ARGUMENT for a page token that this function did not return.
absl::StatusOr<v1::ListCacheResponse> ListCacheEntries(sql::Database& database, const v1::ListCacheRequest& request,
                                                       int64_t oldest_unix_us);

}  // namespace telemetry::storage::readers
