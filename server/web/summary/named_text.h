#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace telemetry::web::summary {

// The value that stands for NULL in filters.
inline constexpr std::string_view kNullFilter = "null:";

// Returns 16 bytes that identify a text of the dataset.
std::string TextDigest(std::string_view text);

// Returns the value by which filters select a text: the text itself, or "sha256:" and 32 hex digits for a text that is
// long, empty, not clean UTF-8, or looks like such a value.
std::string FilterOf(std::string_view text);

// Returns the digest of the text that a filter selects. Empty for kNullFilter, whose digest is empty. nullopt: no text
// has this filter.
std::optional<std::string> DigestOfFilter(std::string_view filter);

}  // namespace telemetry::web::summary
