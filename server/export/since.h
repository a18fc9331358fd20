#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace telemetry::exporter {

// The point in time that --since names: RFC 3339 ("2025-03-01T12:00:00Z"), a date ("2025-03-01": its beginning in UTC)
// or how long before `now` ("90m", "24h", "7d"). INVALID_ARGUMENT: none of these, or before 1970.
absl::StatusOr<absl::Time> ParseSince(const std::string& text, absl::Time now);

}  // namespace telemetry::exporter
