#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace telemetry::storage {

// Returns the file that `path` leads to through symbolic links, also when it is yet to be made. NOT_FOUND,
// PERMISSION_DENIED: its folder.
absl::StatusOr<std::string> RealPath(const std::string& path);

// FAILED_PRECONDITION: `path` is a folder, so that no dataset can be there.
absl::Status RefuseFolder(const std::string& path);

// For commands that work on a dataset and must not make one. NOT_FOUND: there is no such file. FAILED_PRECONDITION: as
// RefuseFolder.
absl::Status RequireFile(const std::string& path);

}  // namespace telemetry::storage
