#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace telemetry::log {

// A named value of a log line. A field with an empty text is omitted.
struct Field {
  // `text` may come from outside. `name` must be a lower_case literal of this program.
  Field(const char* name, std::string_view text) : name(name), text(text), quoted(true) {}
  template <std::integral Number>
  Field(const char* name, Number number) : name(name), text(absl::StrCat(number)), quoted(false) {}

  const char* name;
  std::string text;
  bool quoted;
};
// The fields of a log line, in their order.
using Fields = std::initializer_list<Field>;

// Returns `message: name=value name="a value"` as one line. Unprintable characters and line breaks are escaped, and
// texts above 1000 bytes are truncated.
std::string TextLine(std::string_view message, Fields fields);

// Returns `"message": "...", "name": "value", "number": 1`, the members of a JSON object, in ASCII. Bytes that are not
// UTF-8 become U+FFFD, and texts above 1000 bytes are truncated.
std::string JsonMembers(std::string_view message, Fields fields);

// Returns the text as one line, escaped as TextLine() escapes a message.
std::string OneLine(std::string_view text);

}  // namespace telemetry::log
