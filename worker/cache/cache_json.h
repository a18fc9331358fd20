#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "proto/record/json.h"
#include "telemetry/v1/cache.pb.h"

namespace telemetry::worker::cache {

// Returns the JSON object of an entry: namespace, key, sender, stored_unix_us, attempt_id (32 hex digits), hardware,
// versions (an object) and, if `with_value`, value (in base64). Fields that were not set are null.
record::Json EntryToJson(const v1::CacheEntry& entry, bool with_value);

// Return the request that a JSON object describes. Its members are the fields of the request, with bytes as above;
// others are ignored. Return INVALID_ARGUMENT, with the name of the member, for a member of another type, and for an
// attempt_id or value that cannot be decoded. The collector checks the limits.
absl::StatusOr<v1::GetCacheRequest> ParseGet(const record::Json& object);
absl::StatusOr<v1::ListCacheRequest> ParseList(const record::Json& object);
absl::StatusOr<v1::CacheEntry> ParsePut(const record::Json& object);

// Returns the 16 bytes of an attempt_id of 32 hex digits, or no bytes for an empty text. INVALID_ARGUMENT for other
// texts.
absl::StatusOr<std::string> ParseAttemptId(const std::string& hex);

}  // namespace telemetry::worker::cache
