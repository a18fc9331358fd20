#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace telemetry::access {

// Makes a file that only its owner can open (mode 0600, whatever the umask), with this content, and forces it to disk.
// ALREADY_EXISTS: `path` names something already, which stays as it is. Other errors are those of the system and name
// the path. After an error the file may hold a part of the content.
absl::Status WriteSecretFile(const std::string& path, std::string_view content);

}  // namespace telemetry::access
