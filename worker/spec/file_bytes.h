#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace telemetry::worker::spec {

// Reads a regular file. NOT_FOUND or PERMISSION_DENIED: it cannot be opened. INVALID_ARGUMENT: it is not a regular
// file, or larger than `limit` bytes.
absl::StatusOr<std::string> ReadFileBytes(const std::string& path, size_t limit);

}  // namespace telemetry::worker::spec
