#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace telemetry::record {

// A JSON value that keeps the same information as Python's json module: the order of keys and the text of every number
// (integers of any size; floats as Python's repr prints them; NaN, Infinity, -Infinity).
struct Json {
  enum class Kind { kNull, kTrue, kFalse, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  std::string text;  // kNumber: the number's text; kString: the value in UTF-8
  std::vector<Json> items;
  std::vector<std::pair<std::string, Json>> members;  // kObject: in order; keys may repeat as in the input

  static Json Null() { return {}; }
  static Json Bool(bool value);
  static Json Number(std::string digits);
  static Json Integer(int64_t value);
  static Json String(std::string value);
  static Json Array();
  static Json Object();

  // Returns the first member with this name, or nullptr if there is none or the value is not an object.
  const Json* Find(std::string_view key) const;
  bool is_null() const { return kind == Kind::kNull; }
  bool operator==(const Json& other) const = default;
};

// Parses one JSON text, including NaN and the infinities. Returns INVALID_ARGUMENT for a text that is not JSON, invalid
// UTF-8, nesting deeper than 200, text after the value, a length of 4 GiB or more, and an escaped half of a surrogate
// pair ("\ud800", which Python may write but UTF-8 cannot encode). The message contains the byte offset (of the
// beginning of the string for an error in a string). There is no offset for a truncated text and for a control
// character in a string.
absl::StatusOr<Json> ParseJson(std::string_view text);

// Appends the value in the form of Python's json.dumps(value): separators ", " and ": ", ASCII with \uXXXX, keys in
// their order. Strings must be UTF-8.
void AppendJson(const Json& value, std::string* out);
std::string ToJson(const Json& value);
void AppendJsonString(std::string_view value, std::string* out);

// Returns the form of Python's json.dumps(value, indent=2), the form of a pr2699 .meta.json.
std::string ToIndentedJson(const Json& value);

// Returns the form of Python's json.dumps(value, sort_keys=True, separators=(",", ":")), over which config ids are
// computed. Numbers are written as Python prints them, whatever their form in the input.
std::string ToCanonicalJson(const Json& value);

}  // namespace telemetry::record
