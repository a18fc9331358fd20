#pragma once

#include "absl/status/status.h"
#include "server/commands/command_line.h"

namespace telemetry::collector {

// Serves until SIGTERM or SIGINT, then drains. If the dataset fails, the process exits immediately with status 1.
absl::Status Serve(const CommandLine& line);

}  // namespace telemetry::collector
