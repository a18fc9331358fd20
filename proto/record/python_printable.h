#pragma once

namespace telemetry::record {

// Whether Python's repr prints the character as it is; the others it escapes.
bool IsPythonPrintable(char32_t code_point);

}  // namespace telemetry::record
