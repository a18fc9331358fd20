#pragma once

#include "absl/status/status.h"
#include "server/commands/command_line.h"

namespace telemetry::collector {

// Prints the attempts that the flags select, asks for confirmation, deletes them and prints their number. Errors: those
// of DeletionService.Delete, storage::OpenReader and storage::OpenWriter; CANCELLED if the answer was not "yes".
absl::Status Delete(const DeleteFlags& flags);

}  // namespace telemetry::collector
