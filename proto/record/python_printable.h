#pragma once

namespace telemetry::record {

// Returns true if Python's repr prints the character unescaped.
bool IsPythonPrintable(char32_t code_point);

}  // namespace telemetry::record
