#pragma once

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace telemetry::record {

// Bridge to Debian's build of Abseil, which has its own string_view that std::string_view does not convert to: the few
// calls that this folder needs, with std::string_view.
inline absl::string_view AbslView(std::string_view text) { return {text.data(), text.size()}; }

namespace strings_internal {
template <typename T>
const T& Piece(const T& part) {
  return part;
}
inline absl::string_view Piece(std::string_view part) { return AbslView(part); }
}  // namespace strings_internal

// Like absl::StrCat(), but also accepts std::string_view.
template <typename... Parts>
std::string Cat(const Parts&... parts) {
  return absl::StrCat(strings_internal::Piece(parts)...);
}

// Removes `prefix` from the beginning of the text; returns false if the text does not begin with it.
inline bool TakePrefix(std::string_view prefix, std::string_view* text) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

inline bool TakeSuffix(std::string_view suffix, std::string_view* text) {
  if (!text->ends_with(suffix)) return false;
  text->remove_suffix(suffix.size());
  return true;
}

inline std::string_view WithoutSuffix(std::string_view text, std::string_view suffix) {
  TakeSuffix(suffix, &text);
  return text;
}

}  // namespace telemetry::record
