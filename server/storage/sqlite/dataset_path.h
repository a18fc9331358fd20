#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace telemetry::storage::sqlite {

// Returns the file that `path` leads to through symbolic links, even if the file does not exist yet. Returns NOT_FOUND
// or PERMISSION_DENIED if its folder cannot be resolved.
absl::StatusOr<std::string> RealPath(const std::string& path);

// Returns FAILED_PRECONDITION if `path` is a folder, which cannot be a dataset.
absl::Status RefuseFolder(const std::string& path);

// Returns NOT_FOUND if the file does not exist, and FAILED_PRECONDITION as RefuseFolder does. For commands that must
// not create a dataset.
absl::Status RequireFile(const std::string& path);

}  // namespace telemetry::storage::sqlite
