#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace telemetry::log {

// What a line says beside its message. One whose text is empty is left out.
struct Field {
  // Any text, also from outside. `name`: lower_case, a word of ours.
  Field(const char* name, std::string_view text) : name(name), text(text), quoted(true) {}
  template <std::integral Number>
  Field(const char* name, Number number) : name(name), text(absl::StrCat(number)), quoted(false) {}

  const char* name;
  std::string text;
  bool quoted;
};
using Fields = std::initializer_list<Field>;

// `message: name=value name="a value"`, in one line whatever is in the texts: what is not printable or breaks lines is
// escaped, texts above 1000 bytes are cut.
std::string TextLine(std::string_view message, Fields fields);

// `"message": "...", "name": "value", "number": 1`: the members of a JSON object, ASCII. Bytes that are no UTF-8 become
// U+FFFD; texts above 1000 bytes are cut.
std::string JsonMembers(std::string_view message, Fields fields);

// The text in one line, as TextLine has it in a message.
std::string OneLine(std::string_view text);

}  // namespace telemetry::log
