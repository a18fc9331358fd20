#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace telemetry::bench {

// Runs a program, which is found in the PATH unless its name is a path, with its standard output in a file. Returns
// FAILED_PRECONDITION if it does not exist or its exit status is not 0.
absl::Status RunProgram(const std::string& output_path, std::vector<std::string> command);

}  // namespace telemetry::bench
