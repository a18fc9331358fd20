#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/collector/command_line.h"

namespace telemetry::collector {

// Prints what is named, asks, deletes it and prints how much that was. `db`: the dataset, where no collector is given.
// Errors as DeletionService.Delete, storage::OpenReader and storage::OpenWriter. CANCELLED: the answer was not yes.
absl::Status Delete(const std::string& db, const DeleteFlags& flags);

}  // namespace telemetry::collector
