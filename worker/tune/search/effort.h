#pragma once

#include <string_view>

#include "absl/status/statusor.h"

namespace telemetry::worker::tune {

// How much a search may try. kNone: the default config and the starting points. kQuick: at most 200 configs. kFull: in
// the order of 1000.
enum class Effort { kNone, kQuick, kFull };

// "none", "quick", "full". INVALID_ARGUMENT lists them.
absl::StatusOr<Effort> ParseEffort(std::string_view text);
std::string_view EffortName(Effort effort);

}  // namespace telemetry::worker::tune
