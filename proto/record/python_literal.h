#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/record/json.h"

namespace telemetry::record {

// Parses "Config(block_sizes=[32, 32], maxnreg=None)" into an object with the arguments in their order. Values are
// Python literals: numbers, strings (all quote styles, escapes and prefix-free), True, False, None, lists, tuples
// (taken as lists), dicts with string keys, inf and nan as repr prints them. INVALID_ARGUMENT with the byte offset:
// anything else, positional arguments, a repeated name, nesting deeper than 200. The callee's name must be Config or
// end in ".Config".
absl::StatusOr<Json> ParseConfig(std::string_view text);

// The reverse: "Config(...)" with each value as Python's repr prints it.
std::string FormatConfig(const Json& config);

// Splits "Config(a=[1, 2], b='x')" into its argument texts {"a=[1, 2]", "b='x'"} so that joining them with ", " inside
// "Config(" and ")" gives back exactly `text`; empty where that cannot be done. Needs no valid literals.
std::vector<std::string_view> SplitConfigArguments(std::string_view text);

}  // namespace telemetry::record
