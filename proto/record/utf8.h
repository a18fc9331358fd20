#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace telemetry::record {

// Returns the offset of the first byte that is not part of well-formed UTF-8 (surrogates and overlong forms are not),
// or npos if there is none.
size_t FindInvalidUtf8(std::string_view text);

// Returns the code point at `*at` and advances `*at` past it. `*at` must be within the text, and the text must be
// well-formed.
char32_t NextCodePoint(std::string_view text, size_t* at);

// Appends a code point. Returns false and appends nothing for a surrogate or a value beyond U+10FFFF.
bool AppendUtf8(char32_t code_point, std::string* out);

}  // namespace telemetry::record
