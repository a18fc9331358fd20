// Reads JSON as Python's json.loads does. Written here, and not with a library, because a number must come through with
// all its digits whatever its size, and the libraries at hand turn it into a double first.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "proto/record/json.h"
#include "proto/record/strings.h"
#include "proto/record/text_cursor.h"
#include "proto/record/utf8.h"

namespace telemetry::record {
namespace {

class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : cursor_(text) {}

  absl::StatusOr<Json> Parse() {
    Json value;
    absl::Status status = Value(0, &value);
    if (!status.ok()) return status;
    cursor_.SkipSpace();
    if (!cursor_.AtEnd()) return cursor_.Error("something stands behind the value");
    return value;
  }

 private:
  absl::Status Value(int depth, Json* value) {
    cursor_.SkipSpace();
    if (cursor_.AtEnd()) return cursor_.Error("a value is missing");
    switch (cursor_.Peek()) {
      case '{':
        return Object(depth + 1, value);
      case '[':
        return Array(depth + 1, value);
      case '"':
        value->kind = Json::Kind::kString;
        return String(&value->text);
      default:
        return Scalar(value);
    }
  }

  absl::Status Object(int depth, Json* value) {
    if (depth > kMaxDepth) return cursor_.Error("nested too deep");
    value->kind = Json::Kind::kObject;
    cursor_.Take();
    cursor_.SkipSpace();
    if (cursor_.TryTake('}')) return absl::OkStatus();
    do {
      absl::Status status = Member(depth, value);
      if (!status.ok()) return status;
      cursor_.SkipSpace();
    } while (cursor_.TryTake(','));
    return cursor_.TryTake('}') ? absl::OkStatus() : cursor_.Error("',' or '}' is missing");
  }

  absl::Status Member(int depth, Json* object) {
    cursor_.SkipSpace();
    if (cursor_.Peek() != '"') return cursor_.Error("a key is missing");
    std::string key;
    absl::Status status = String(&key);
    if (!status.ok()) return status;
    cursor_.SkipSpace();
    if (!cursor_.TryTake(':')) return cursor_.Error("':' is missing");
    return Value(depth, &object->members.emplace_back(std::move(key), Json()).second);
  }

  absl::Status Array(int depth, Json* value) {
    if (depth > kMaxDepth) return cursor_.Error("nested too deep");
    value->kind = Json::Kind::kArray;
    cursor_.Take();
    cursor_.SkipSpace();
    if (cursor_.TryTake(']')) return absl::OkStatus();
    do {
      absl::Status status = Value(depth, &value->items.emplace_back());
      if (!status.ok()) return status;
      cursor_.SkipSpace();
    } while (cursor_.TryTake(','));
    return cursor_.TryTake(']') ? absl::OkStatus() : cursor_.Error("',' or ']' is missing");
  }

  absl::Status Scalar(Json* value) {
    if (cursor_.TryTake("null")) return absl::OkStatus();
    const size_t begin = cursor_.at();
    if (cursor_.TryTake("true")) {
      value->kind = Json::Kind::kTrue;
    } else if (cursor_.TryTake("false")) {
      value->kind = Json::Kind::kFalse;
    } else if (cursor_.TryTake("NaN") || cursor_.TryTake("Infinity") || cursor_.TryTake("-Infinity") || Number()) {
      value->kind = Json::Kind::kNumber;
      value->text = cursor_.Since(begin);
    } else {
      return cursor_.Error("no JSON value");
    }
    return absl::OkStatus();
  }

  bool Number() {
    cursor_.TryTake('-');
    if (!cursor_.TryTake('0') && !Digits()) return false;
    if (cursor_.TryTake('.') && !Digits()) return false;
    if (cursor_.TryTake('e') || cursor_.TryTake('E')) {
      if (!cursor_.TryTake('+')) cursor_.TryTake('-');
      return Digits();
    }
    return true;
  }

  bool Digits() {
    const size_t begin = cursor_.at();
    cursor_.SkipDigits();
    return cursor_.at() > begin;
  }

  absl::Status String(std::string* out) {
    cursor_.Take();
    while (true) {
      const size_t plain = cursor_.at();
      while (!cursor_.AtEnd() && IsPlain(cursor_.Peek())) cursor_.Skip(1);
      out->append(cursor_.Since(plain));
      if (cursor_.TryTake('"')) return absl::OkStatus();
      if (cursor_.AtEnd()) return cursor_.Error("a string has no end");
      if (!cursor_.TryTake('\\')) return cursor_.Error("a control character stands in a string");
      absl::Status status = Escape(out);
      if (!status.ok()) return status;
    }
  }

  static bool IsPlain(char c) { return static_cast<uint8_t>(c) >= 0x20 && c != '"' && c != '\\'; }

  absl::Status Escape(std::string* out) {
    static constexpr std::string_view kNames = "\"\\/bfnrt";
    static constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    if (cursor_.TryTake('u')) return UnicodeEscape(out);
    const size_t which = cursor_.AtEnd() ? std::string_view::npos : kNames.find(cursor_.Peek());
    if (which == std::string_view::npos) return cursor_.Error("an escape that JSON does not have");
    cursor_.Take();
    out->push_back(kValues[which]);
    return absl::OkStatus();
  }

  // Python writes half of a surrogate pair where its string holds one. No UTF-8 can, so such a text is refused whole
  // rather than changed.
  absl::Status UnicodeEscape(std::string* out) {
    std::optional<char32_t> code_point = FourDigits();
    if (!code_point.has_value()) return cursor_.Error("\\u without four hex digits");
    if (*code_point >= 0xD800 && *code_point < 0xDC00 && cursor_.TryTake("\\u")) {
      const std::optional<char32_t> low = FourDigits();
      if (!low.has_value()) return cursor_.Error("\\u without four hex digits");
      if (*low < 0xDC00 || *low > 0xDFFF) return cursor_.Error("half a surrogate pair, which is no text,");
      code_point = 0x10000 + ((*code_point - 0xD800) << 10) + (*low - 0xDC00);
    }
    if (!AppendUtf8(*code_point, out)) return cursor_.Error("half a surrogate pair, which is no text,");
    return absl::OkStatus();
  }

  std::optional<char32_t> FourDigits() {
    char32_t value = 0;
    for (int i = 0; i < 4; ++i) {
      if (!absl::ascii_isxdigit(static_cast<unsigned char>(cursor_.Peek()))) return std::nullopt;
      const char digit = absl::ascii_tolower(static_cast<unsigned char>(cursor_.Take()));
      value = value << 4 | static_cast<char32_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    }
    return value;
  }

  TextCursor cursor_;
};

}  // namespace

absl::StatusOr<Json> ParseJson(std::string_view text) {
  const size_t bad = FindInvalidUtf8(text);
  if (bad != std::string_view::npos) {
    return absl::InvalidArgumentError(Cat("invalid UTF-8 at byte ", bad));
  }
  return JsonParser(text).Parse();
}

}  // namespace telemetry::record
