#pragma once

#include <string>

#include "absl/status/status.h"

namespace telemetry::worker {

// Writes a new file. ALREADY_EXISTS: the file exists with other content, because the user may have edited it.
// UNAVAILABLE: it cannot be written. Messages name the path.
absl::Status WriteOutputFile(const std::string& path, const std::string& text);

}  // namespace telemetry::worker
