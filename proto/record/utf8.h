#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace telemetry::record {

// The offset of the first byte that is not part of well-formed UTF-8 (surrogates and overlong forms are not);
// std::string_view::npos where all of it is.
size_t FindInvalidUtf8(std::string_view text);

// The code point at `*at`, which is moved behind it. `*at` must be within the text, which must be
// well-formed for the result to mean anything.
char32_t NextCodePoint(std::string_view text, size_t* at);

// Appends a code point. False, and nothing appended: it is a surrogate or beyond U+10FFFF.
bool AppendUtf8(char32_t code_point, std::string* out);

}  // namespace telemetry::record
