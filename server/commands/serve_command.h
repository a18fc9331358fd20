#pragma once

#include "absl/status/status.h"
#include "server/commands/command_line.h"

namespace telemetry::collector {

// Serves until SIGTERM or SIGINT, then drains. When the dataset fails the process ends at once with status 1.
absl::Status Serve(const CommandLine& line);

}  // namespace telemetry::collector
