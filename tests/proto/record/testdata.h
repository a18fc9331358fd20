#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace telemetry::record {

// Paths of the real sidecars whose names end so, in order: ".csv", ".meta.jsonl".
std::vector<std::string> SampleFiles(std::string_view suffix);

std::string ReadFile(const std::string& path);

// The lines of a text without their LF; the last one may lack it.
std::vector<std::string> LinesOf(std::string_view text);

}  // namespace telemetry::record
