#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace telemetry::access {

// Creates a file with this content that only its owner can open (mode 0600, regardless of the umask), and fsyncs the
// file. ALREADY_EXISTS: `path` exists; it stays unchanged. Other errors are those of the system and name the path.
// After an error the file may contain a part of the content.
absl::Status WriteSecretFile(const std::string& path, std::string_view content);

}  // namespace telemetry::access
