#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace telemetry::cli {

// Returns the candidate that is the fewest insertions, deletions and changed letters away, upper and lower case being
// the same; if none is near enough to be a typing error, the first one that contains `word`; else an empty string.
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace telemetry::cli
