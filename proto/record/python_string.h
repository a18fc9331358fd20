#pragma once

#include <string>

#include "absl/status/status.h"
#include "proto/record/text_cursor.h"

namespace telemetry::record {

// Reads a Python string literal without prefix at the cursor, which stands on its quote, and appends its value. Single
// and triple quotes of both kinds; all escapes but \N{name}. INVALID_ARGUMENT: no end, a line break in a string with
// single quotes, a malformed escape, or one that names half of a surrogate pair.
absl::Status TakePythonString(TextCursor* cursor, std::string* out);

}  // namespace telemetry::record
