#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/record/json.h"

namespace telemetry::record {

// Parses "Config(block_sizes=[32, 32], maxnreg=None)" into an object with the arguments in their order. Values are
// Python literals: numbers, strings (all quote styles and escapes, no prefixes), True, False, None, lists, tuples
// (converted to lists), dicts with string keys, and inf and nan as repr prints them. Returns INVALID_ARGUMENT with the
// byte offset for anything else, positional arguments, a repeated name and nesting deeper than 200. The callee's name
// must be Config or end in ".Config".
absl::StatusOr<Json> ParseConfig(std::string_view text);

// Returns "Config(...)" with each value as Python's repr prints it; the reverse of ParseConfig().
std::string FormatConfig(const Json& config);

// Splits "Config(a=[1, 2], b='x')" into its argument texts {"a=[1, 2]", "b='x'"}. Joining them with ", " between
// "Config(" and ")" yields exactly `text`; if that is impossible, the result is empty. The arguments need not be valid
// literals.
std::vector<std::string_view> SplitConfigArguments(std::string_view text);

}  // namespace telemetry::record
