#pragma once

#include "absl/status/status.h"
#include "server/commands/command_line.h"

namespace telemetry::collector {

// Looks at all that serve would use, prints what would be served and each problem, and begins nothing: no file is made
// or changed, no port is taken. FAILED_PRECONDITION: serve would refuse to begin.
absl::Status ValidateServe(const CommandLine& line);

}  // namespace telemetry::collector
