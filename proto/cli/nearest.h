#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace telemetry::cli {

// The candidate that is the fewest insertions, deletions and changed letters away; empty: none is near enough for
// `word` to be a slip of the hand.
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace telemetry::cli
