#pragma once

#include "absl/status/status.h"
#include "server/commands/command_line.h"

namespace telemetry::collector {

// Prints the counts of a dataset and the damage found. Returns DATA_LOSS if there is damage.
absl::Status Check(const CommandLine& line);
// Copies the dataset. A collector may serve it meanwhile.
absl::Status Backup(const CommandLine& line);
// Replaces the dataset by a copy of a backup. Prints where the replaced files are kept and how many acknowledged
// records the backup lacks.
absl::Status Restore(const CommandLine& line);
// Removes old attempts and prints them.
absl::Status Prune(const CommandLine& line);
// Migrates the schema to the newest version and adds page checksums to a dataset that has none.
absl::Status MigrateDataset(const CommandLine& line);

}  // namespace telemetry::collector
