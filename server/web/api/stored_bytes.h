#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/web/api/call.h"
#include "server/web/json/json_writer.h"

namespace telemetry::web::api {

// The most bytes of a stored value that an answer contains.
inline constexpr int64_t kMostStoredBytes = int64_t{64} << 10;

// Writes Bytes. `shown`: the first kMostStoredBytes of `size` bytes.
void WriteBytes(json::JsonWriter& out, std::string_view key, std::string_view shown, int64_t size);

// Returns the key of an object, which is the variable segment of the path. NOT_FOUND: it is not a number.
absl::StatusOr<int64_t> KeyInPath(const Call& call);

}  // namespace telemetry::web::api
