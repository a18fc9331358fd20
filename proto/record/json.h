#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace telemetry::record {

// A JSON value that keeps what Python's json module would: the order of keys, and every number as the digits it was
// written with (integers of any size; floats as Python's repr; NaN, Infinity, -Infinity).
struct Json {
  enum class Kind { kNull, kTrue, kFalse, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  std::string text;  // kNumber: its digits. kString: the UTF-8 value.
  std::vector<Json> items;
  std::vector<std::pair<std::string, Json>> members;  // kObject, in order; keys may repeat as in the input

  static Json Null() { return {}; }
  static Json Bool(bool value);
  static Json Number(std::string digits);
  static Json Integer(int64_t value);
  static Json String(std::string value);
  static Json Array();
  static Json Object();

  // The first member of that name; nullptr where there is none or this is no object.
  const Json* Find(std::string_view key) const;
  bool is_null() const { return kind == Kind::kNull; }
  bool operator==(const Json& other) const = default;
};

// Parses one JSON text, NaN and the infinities included. INVALID_ARGUMENT: not JSON, invalid UTF-8, nested deeper than
// 200, something behind the value, 4 GiB or longer, or an escaped half of a surrogate pair ("\ud800", which Python may
// write but no UTF-8 can hold). The message has the byte offset, of the whole string where one is wrong; there is none
// for a text that was cut off and for a control character in a string.
absl::StatusOr<Json> ParseJson(std::string_view text);

// As Python's json.dumps(value): ", " and ": ", ASCII with \uXXXX, keys in their order. Strings must be UTF-8.
void AppendJson(const Json& value, std::string* out);
std::string ToJson(const Json& value);
void AppendJsonString(std::string_view value, std::string* out);

// As Python's json.dumps(value, indent=2), which is how a pr2699 .meta.json is written.
std::string ToIndentedJson(const Json& value);

// As Python's json.dumps(value, sort_keys=True, separators=(",", ":")): what config ids are computed over. Numbers
// stand as Python prints them, however they were written.
std::string ToCanonicalJson(const Json& value);

}  // namespace telemetry::record
