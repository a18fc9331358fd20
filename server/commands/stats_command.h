#pragma once

#include "absl/status/status.h"
#include "server/commands/command_line.h"

namespace telemetry::collector {

// Prints what is in the dataset, as a table or, with --json, as one JSON object. Errors as storage::ReadStats.
absl::Status Stats(const CommandLine& line);

}  // namespace telemetry::collector
