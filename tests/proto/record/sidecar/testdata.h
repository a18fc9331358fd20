#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace telemetry::record::sidecar {

// Returns the sorted paths of the real sidecars with the suffix, such as ".csv" or ".meta.jsonl".
std::vector<std::string> SampleFiles(std::string_view suffix);

std::string ReadFile(const std::string& path);

// Returns the lines of a text without their LF, which the last line may lack.
std::vector<std::string> SplitLines(std::string_view text);

}  // namespace telemetry::record::sidecar
