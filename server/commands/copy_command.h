#pragma once

#include "absl/status/status.h"
#include "server/commands/command_line.h"

namespace telemetry::collector {

// Moves the dataset to another place, and prints what is there then. Errors as copy::CopyDataset.
absl::Status Copy(const CommandLine& line);

}  // namespace telemetry::collector
