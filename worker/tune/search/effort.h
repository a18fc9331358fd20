#pragma once

#include <string_view>

#include "absl/status/statusor.h"

namespace telemetry::worker::tune::search {

// The size of a search. kNone: only the default config and the starting points. kQuick: at most 200 configs. kFull: at
// most 1000 to 2000 configs, depending on the algorithm.
enum class Effort { kNone, kQuick, kFull };

// Parses "none", "quick" or "full". Returns INVALID_ARGUMENT, with the valid names, for other texts.
absl::StatusOr<Effort> ParseEffort(std::string_view text);
std::string_view EffortName(Effort effort);

}  // namespace telemetry::worker::tune::search
