#pragma once

#include <string>

#include "absl/status/status.h"

namespace telemetry::storage::upkeep {

// Copies one consistent state of the dataset at `from` to the new file `to`, also while a collector serves the dataset.
// The copy is written under a temporary name, fsynced, and only then named `to`.
// Errors: ALREADY_EXISTS if `to` exists; UNAVAILABLE or PERMISSION_DENIED for I/O errors of the copy; errors of
// OpenSqliteReader for `from`.
absl::Status BackUpDataset(const std::string& from, const std::string& to);

// Fsyncs the folder that contains `path`.
absl::Status SyncParentFolder(const std::string& path);

}  // namespace telemetry::storage::upkeep
