#include "proto/record/python_repr.h"

#include <cstdint>

#include "proto/record/numbers.h"
#include "proto/record/python_printable.h"
#include "proto/record/utf8.h"

namespace telemetry::record {
namespace {

void AppendHexEscape(char32_t code_point, std::string* out) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const char letter = code_point < 0x100 ? 'x' : code_point < 0x10000 ? 'u' : 'U';
  const int digits = code_point < 0x100 ? 2 : code_point < 0x10000 ? 4 : 8;
  out->push_back('\\');
  out->push_back(letter);
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out->push_back(kDigits[code_point >> shift & 0xF]);
}

void AppendCharacter(char32_t code_point, char quote, std::string* out) {
  const bool backslashed = code_point == '\\' || code_point == static_cast<char32_t>(quote);
  const char name = backslashed          ? static_cast<char>(code_point)
                    : code_point == '\n' ? 'n'
                    : code_point == '\r' ? 'r'
                    : code_point == '\t' ? 't'
                                         : '\0';
  if (name != '\0') {
    out->push_back('\\');
    out->push_back(name);
  } else if (IsPythonPrintable(code_point)) {
    AppendUtf8(code_point, out);
  } else {
    AppendHexEscape(code_point, out);
  }
}

// Appends a string in single quotes, or in double quotes if only single quotes would need escapes.
void AppendString(std::string_view value, std::string* out) {
  const bool has_single = value.find('\'') != std::string_view::npos;
  const bool has_double = value.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  out->push_back(quote);
  for (size_t at = 0; at < value.size();) AppendCharacter(NextCodePoint(value, &at), quote, out);
  out->push_back(quote);
}

void AppendNumber(std::string_view digits, std::string* out) {
  const std::string normal = NormalNumber(digits);
  if (normal == "NaN") {
    out->append("nan");
  } else if (normal == "Infinity") {
    out->append("inf");
  } else if (normal == "-Infinity") {
    out->append("-inf");
  } else {
    out->append(normal);
  }
}

void AppendList(const Json& list, std::string* out) {
  out->push_back('[');
  std::string_view separator;
  for (const Json& item : list.items) {
    out->append(separator);
    separator = ", ";
    AppendRepr(item, out);
  }
  out->push_back(']');
}

void AppendDict(const Json& dict, std::string* out) {
  out->push_back('{');
  std::string_view separator;
  for (const auto& [key, value] : dict.members) {
    out->append(separator);
    separator = ", ";
    AppendString(key, out);
    out->append(": ");
    AppendRepr(value, out);
  }
  out->push_back('}');
}

}  // namespace

void AppendRepr(const Json& value, std::string* out) {
  switch (value.kind) {
    case Json::Kind::kNull:
      out->append("None");
      return;
    case Json::Kind::kTrue:
      out->append("True");
      return;
    case Json::Kind::kFalse:
      out->append("False");
      return;
    case Json::Kind::kNumber:
      return AppendNumber(value.text, out);
    case Json::Kind::kString:
      return AppendString(value.text, out);
    case Json::Kind::kArray:
      return AppendList(value, out);
    case Json::Kind::kObject:
      return AppendDict(value, out);
  }
}

std::string PythonStr(const Json& value) {
  if (value.kind == Json::Kind::kString) return value.text;
  std::string out;
  AppendRepr(value, &out);
  return out;
}

}  // namespace telemetry::record
