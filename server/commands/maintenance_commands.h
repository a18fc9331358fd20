#pragma once

#include "absl/status/status.h"
#include "server/commands/command_line.h"

namespace telemetry::collector {

// Prints counts and what is damaged. DATA_LOSS: something is.
absl::Status Check(const CommandLine& line);
// Copies the dataset while it may be served.
absl::Status Backup(const CommandLine& line);
// Puts a backup into the dataset's place, and prints what became of that and what the backup lacks.
absl::Status Restore(const CommandLine& line);
// Removes old attempts, and prints which.
absl::Status Prune(const CommandLine& line);
// Brings the schema up to date, and gives the pages of an older dataset checksums.
absl::Status MigrateDataset(const CommandLine& line);

}  // namespace telemetry::collector
