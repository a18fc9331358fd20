#include "proto/record/python_literal.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "proto/base/status_macros.h"
#include "proto/record/numbers.h"
#include "proto/record/python_repr.h"
#include "proto/record/python_string.h"
#include "proto/record/strings.h"
#include "proto/record/text_cursor.h"
#include "proto/record/utf8.h"

namespace telemetry::record {
namespace {

bool IsNameByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return absl::ascii_isalnum(byte) || c == '_' || byte >= 0x80;
}

// The names in an object that is being read. As long as they are few, a search in the object itself is quicker.
class MemberNames {
 public:
  // Returns false if the object has a member with this name.
  bool TryAdd(const Json& object, const std::string& name) {
    if (object.members.size() < kFew) return object.Find(name) == nullptr;
    if (names_.empty()) {
      for (const auto& [known, value] : object.members) names_.insert(known);
    }
    return names_.insert(name).second;
  }

 private:
  static constexpr size_t kFew = 32;

  absl::flat_hash_set<std::string> names_;
};

class ConfigParser {
 public:
  explicit ConfigParser(std::string_view text) : cursor_(text) {}

  absl::StatusOr<Json> Parse() {
    Json config = Json::Object();
    absl::Status status = Callee();
    if (status.ok()) status = Arguments(&config);
    if (!status.ok()) return status;
    cursor_.SkipSpace();
    if (!cursor_.AtEnd()) return cursor_.Error("unexpected text after the call");
    return config;
  }

 private:
  absl::Status Callee() {
    cursor_.SkipSpace();
    const size_t begin = cursor_.at();
    while (IsNameByte(cursor_.Peek()) || cursor_.Peek() == '.') cursor_.Skip(1);
    const std::string_view name = cursor_.Since(begin);
    if (name != "Config" && !name.ends_with(".Config")) return cursor_.Error("not a call of Config");
    cursor_.SkipSpace();
    return cursor_.TryTake('(') ? absl::OkStatus() : cursor_.Error("'(' is missing");
  }

  absl::Status Arguments(Json* config) {
    MemberNames names;
    return Sequence(')', [&] { return Argument(config, names); });
  }

  absl::Status Argument(Json* config, MemberNames& names) {
    const size_t begin = cursor_.at();
    while (IsNameByte(cursor_.Peek())) cursor_.Skip(1);
    std::string name(cursor_.Since(begin));
    cursor_.SkipSpace();
    if (name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(name[0])) || !cursor_.TryTake('=')) {
      return cursor_.Error("an argument without a name");
    }
    return NamedValue(std::move(name), 1, config, names);
  }

  absl::Status NamedValue(std::string name, int depth, Json* object, MemberNames& names) {
    if (!names.TryAdd(*object, name)) return cursor_.Error(Cat("\"", name, "\" occurs twice"));
    return Value(depth, &object->members.emplace_back(std::move(name), Json()).second);
  }

  // Reads the items between an opening bracket, which is already consumed, and `close`. Commas separate the items; a
  // trailing comma is allowed.
  template <typename TakeItem>
  absl::Status Sequence(char close, TakeItem take_item) {
    cursor_.SkipSpace();
    while (!cursor_.TryTake(close)) {
      RETURN_IF_ERROR(take_item());
      cursor_.SkipSpace();
      if (!cursor_.TryTake(',') && cursor_.Peek() != close) {
        return cursor_.Error(Cat("',' or '", std::string(1, close), "' is missing"));
      }
      cursor_.SkipSpace();
    }
    return absl::OkStatus();
  }

  absl::Status Value(int depth, Json* value) {
    cursor_.SkipSpace();
    switch (cursor_.Peek()) {
      case '[':
        return List(']', depth + 1, value);
      case '(':
        return Tuple(depth + 1, value);
      case '{':
        return Dict(depth + 1, value);
      case '\'':
      case '"':
        value->kind = Json::Kind::kString;
        return TakePythonString(&cursor_, &value->text);
      default:
        return Scalar(value);
    }
  }

  absl::Status List(char close, int depth, Json* value) {
    if (depth > kMaxDepth) return cursor_.Error("nested too deep");
    cursor_.Take();
    value->kind = Json::Kind::kArray;
    return Sequence(close, [&] { return Value(depth, &value->items.emplace_back()); });
  }

  // Reads a tuple as a list, because JSON has no tuples and json.dumps writes them as lists. (1) is not a tuple but a 1
  // in parentheses, which repr never prints.
  absl::Status Tuple(int depth, Json* value) {
    RETURN_IF_ERROR(List(')', depth, value));
    const std::string_view before_closing = cursor_.text().substr(0, cursor_.at() - 1);
    const bool ends_in_comma = before_closing[before_closing.find_last_not_of(" \t\r\n")] == ',';
    if (value->items.size() == 1 && !ends_in_comma) return cursor_.Error("a value in parentheses that is not a tuple");
    return absl::OkStatus();
  }

  absl::Status Dict(int depth, Json* value) {
    if (depth > kMaxDepth) return cursor_.Error("nested too deep");
    cursor_.Take();
    value->kind = Json::Kind::kObject;
    MemberNames names;
    return Sequence('}', [&] {
      std::string key;
      if (cursor_.Peek() != '\'' && cursor_.Peek() != '"') return cursor_.Error("a key that is not a string");
      RETURN_IF_ERROR(TakePythonString(&cursor_, &key));
      cursor_.SkipSpace();
      if (!cursor_.TryTake(':')) return cursor_.Error("':' is missing");
      return NamedValue(std::move(key), depth, value, names);
    });
  }

  absl::Status Scalar(Json* value) {
    const size_t begin = cursor_.at();
    while (IsNameByte(cursor_.Peek()) || cursor_.Peek() == '.' || IsSign(begin)) cursor_.Skip(1);
    const std::string_view word = cursor_.Since(begin);
    if (word == "None") return absl::OkStatus();
    if (word == "True" || word == "False") {
      *value = Json::Bool(word == "True");
      return absl::OkStatus();
    }
    std::string digits = ParseNumber(word);
    if (digits.empty()) return cursor_.Error("unsupported Python literal");
    *value = Json::Number(std::move(digits));
    return absl::OkStatus();
  }

  // Returns true for a sign at the beginning of a word or in its exponent.
  bool IsSign(size_t begin) const {
    if (cursor_.Peek() != '-' && cursor_.Peek() != '+') return false;
    const std::string_view word = cursor_.Since(begin);
    return word.empty() || absl::ascii_tolower(static_cast<unsigned char>(word.back())) == 'e';
  }

  // Returns the number in JSON's form with Python's digits, or an empty string. Only decimal digits: repr prints no
  // others.
  static std::string ParseNumber(std::string_view word) {
    const bool negative = TakePrefix("-", &word);
    if (!negative) TakePrefix("+", &word);
    const std::string_view sign = negative ? "-" : "";
    if (word == "nan") return "NaN";
    if (word == "inf") return Cat(sign, "Infinity");
    if (!HasNumberForm(word)) return "";
    // ".5" and "5." are valid in Python but not in JSON.
    const size_t point = word.find('.');
    if (point == std::string_view::npos) return NormalNumber(Cat(sign, word));
    const std::string_view whole = word.substr(0, point);
    const std::string_view rest = word.substr(point + 1);
    const bool has_fraction = !rest.empty() && absl::ascii_isdigit(static_cast<unsigned char>(rest[0]));
    return NormalNumber(Cat(sign, whole.empty() ? "0" : whole, has_fraction ? "." : ".0", rest));
  }

  static bool HasNumberForm(std::string_view word) {
    TextCursor cursor(word);
    cursor.SkipDigits();
    const size_t whole = cursor.at();
    if (cursor.TryTake('.')) cursor.SkipDigits();
    const bool is_integer = cursor.at() == whole;
    if (whole == 0 && cursor.at() < 2) return false;
    if (is_integer && cursor.AtEnd()) return whole == 1 || word[0] != '0';
    if (cursor.AtEnd()) return true;
    if (!cursor.TryTake('e') && !cursor.TryTake('E')) return false;
    if (!cursor.TryTake('+')) cursor.TryTake('-');
    const size_t exponent = cursor.at();
    cursor.SkipDigits();
    return cursor.AtEnd() && cursor.at() > exponent;
  }

  TextCursor cursor_;
};

// A scanner that tracks whether it is inside a string or a bracket.
class BracketWalker {
 public:
  // Returns false if `c` closes a bracket that is not open.
  bool Step(char c) {
    if (quote_ != 0) {
      StepInString(c);
      return true;
    }
    if (c == '\'' || c == '"') quote_ = c;
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if (c == ')' || c == ']' || c == '}') --depth_;
    return depth_ >= 0;
  }

  bool outside() const { return quote_ == 0 && depth_ == 0; }

 private:
  void StepInString(char c) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == quote_) {
      quote_ = 0;
    }
  }

  char quote_ = 0;
  bool escaped_ = false;
  int depth_ = 0;
};

}  // namespace

absl::StatusOr<Json> ParseConfig(std::string_view text) {
  const size_t bad = FindInvalidUtf8(text);
  if (bad != std::string_view::npos) {
    return absl::InvalidArgumentError(Cat("invalid UTF-8 at byte ", bad));
  }
  return ConfigParser(text).Parse();
}

std::string FormatConfig(const Json& config) {
  std::string out = "Config(";
  std::string_view separator;
  for (const auto& [name, value] : config.members) {
    out += Cat(separator, name, "=");
    separator = ", ";
    AppendRepr(value, &out);
  }
  out.push_back(')');
  return out;
}

std::vector<std::string_view> SplitConfigArguments(std::string_view text) {
  std::string_view inside = text;
  if (!TakePrefix("Config(", &inside) || !TakeSuffix(")", &inside) || inside.empty()) return {};
  std::vector<std::string_view> arguments;
  BracketWalker walker;
  size_t begin = 0;
  for (size_t at = 0; at < inside.size(); ++at) {
    const char c = inside[at];
    const bool ends_argument =
        c == ',' && walker.outside() && at > begin && at + 1 < inside.size() && inside[at + 1] == ' ';
    if (ends_argument) {
      arguments.push_back(inside.substr(begin, at - begin));
      begin = at + 2;
      ++at;
    } else if (!walker.Step(c)) {
      return {};
    }
  }
  if (!walker.outside() || begin == inside.size()) return {};
  arguments.push_back(inside.substr(begin));
  return arguments;
}

}  // namespace telemetry::record
