#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace telemetry::exporter::files {

// Returns the names in the `files` of a snapshot of any version, or nothing for a text that is not a snapshot.
std::vector<std::string> FileNamesInSnapshot(std::string_view json);

}  // namespace telemetry::exporter::files
