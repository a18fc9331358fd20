#pragma once

#include "absl/status/status.h"
#include "server/commands/serve_flags.h"

namespace telemetry::commands {

// Checks everything that serve would use, and prints what would be served and each problem. Starts nothing: no file is
// created or changed, and no port is opened. Returns FAILED_PRECONDITION if serve would refuse to start.
absl::Status ValidateServe(const ServeFlags& flags);

}  // namespace telemetry::commands
