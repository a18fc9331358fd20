#pragma once

#include <string>
#include <string_view>

#include "proto/record/json.h"

namespace telemetry::record {

// Appends the value as Python's repr prints it after json.loads: None, True, 'text', [1, 2], {'a': 1.0}, nan.
void AppendRepr(const Json& value, std::string* out);

// Returns the value as Python's str prints it: like repr, but a string has no quotes and escapes.
std::string PythonStr(const Json& value);

}  // namespace telemetry::record
