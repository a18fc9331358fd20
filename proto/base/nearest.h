#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace telemetry {

// Returns the candidate with the smallest edit distance to `word` (insertions, deletions and substitutions, ignoring
// case). If none is close enough to be a typing error, returns the first candidate that contains `word`, else an empty
// string.
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace telemetry
