#pragma once

#include "absl/status/status.h"
#include "server/commands/command_line.h"

namespace telemetry::collector {

// Prints statistics of the dataset as a table or, with --json, as one JSON object. Errors: those of storage::ReadStats.
absl::Status Stats(const CommandLine& line);

}  // namespace telemetry::collector
