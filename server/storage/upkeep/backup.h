#pragma once

#include <string>

#include "absl/status/status.h"

namespace telemetry::storage {

// Copies the dataset at `from` to the new file `to`: one consistent state of it, also while a collector serves it. The
// copy is written under another name, forced to disk and only then named `to`.
// ALREADY_EXISTS: `to` is there. Errors of `from` as OpenSqliteReader; UNAVAILABLE, PERMISSION_DENIED: the copy's disk.
absl::Status BackUpDataset(const std::string& from, const std::string& to);

// Forces names in the folder of `path` to the disk.
absl::Status SyncFolderOf(const std::string& path);

}  // namespace telemetry::storage
