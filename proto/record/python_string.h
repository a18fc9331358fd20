#pragma once

#include <string>

#include "absl/status/status.h"
#include "proto/record/text_cursor.h"

namespace telemetry::record {

// Reads a Python string literal without prefix at the cursor, which must be at its opening quote, and appends the
// value. Accepts single and triple quotes of both kinds and all escapes except \N{name}. Returns INVALID_ARGUMENT if
// the string has no end, for a line break in a string with single quotes, and for an escape that is malformed or names
// half of a surrogate pair.
absl::Status TakePythonString(TextCursor* cursor, std::string* out);

}  // namespace telemetry::record
