#pragma once

#include <string>
#include <string_view>

#include "proto/record/json.h"

namespace telemetry::record {

// Appends the value as Python's repr prints it once json.loads has read it: None, True, 'text', [1, 2], {'a': 1.0},
// nan.
void AppendRepr(const Json& value, std::string* out);

// As Python's str: like repr, but for a string, which stands without quotes and escapes.
std::string PythonStr(const Json& value);

}  // namespace telemetry::record
