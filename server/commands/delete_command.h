#pragma once

#include "absl/status/status.h"
#include "server/commands/command_line.h"

namespace telemetry::collector {

// Prints the named attempts, asks, deletes them and prints their number. Errors as DeletionService.Delete,
// storage::OpenReader and storage::OpenWriter. CANCELLED: the answer was not yes.
absl::Status Delete(const DeleteFlags& flags);

}  // namespace telemetry::collector
