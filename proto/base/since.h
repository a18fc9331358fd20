#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace telemetry {

// Returns the time that a text such as the value of --since denotes: RFC 3339 ("2025-03-01T12:00:00Z"), a date
// ("2025-03-01": its beginning in UTC) or a duration before `now` ("90m", "24h", "7d"). Returns INVALID_ARGUMENT for
// any other text and for a time before 1970.
absl::StatusOr<absl::Time> ParseSince(const std::string& text, absl::Time now);

}  // namespace telemetry
