#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace telemetry::web::json {

// The longest text of the dataset in a list, and in an answer about one object. Bytes.
inline constexpr size_t kListTextBytes = 300;
inline constexpr size_t kWholeTextBytes = size_t{1} << 20;

// Returns the text as UTF-8 without NUL: each invalid byte and each NUL becomes U+FFFD. A text longer than `most_bytes`
// is cut at a code point and ends with an ellipsis.
std::string CleanText(std::string_view text, size_t most_bytes);

}  // namespace telemetry::web::json
