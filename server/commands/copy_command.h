#pragma once

#include "absl/status/status.h"
#include "server/commands/command_line.h"

namespace telemetry::collector {

// Copies the dataset to another place, verifies the copy and prints the number of rows and the hashes of each table.
// Errors: those of copy::CopyDataset.
absl::Status Copy(const CommandLine& line);

}  // namespace telemetry::collector
