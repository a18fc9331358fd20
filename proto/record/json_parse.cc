// Reads JSON as Python's json.loads does, with simdjson's On-Demand API. The API returns each scalar as its bytes in
// the input, which keeps integers of any size, the form of floats, NaN and the infinities. The caller of that API has
// to check these bytes and to detect text after the value. This file does both.

#include <simdjson.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "proto/record/json.h"
#include "proto/record/strings.h"
#include "proto/record/text_cursor.h"
#include "proto/record/utf8.h"

namespace telemetry::record {
namespace {

namespace ondemand = simdjson::ondemand;

bool TakeDigits(TextCursor* cursor) {
  const size_t begin = cursor->at();
  cursor->SkipDigits();
  return cursor->at() > begin;
}

bool IsDecimal(std::string_view token) {
  TextCursor cursor(token);
  cursor.TryTake('-');
  if (!cursor.TryTake('0') && !TakeDigits(&cursor)) return false;
  if (cursor.TryTake('.') && !TakeDigits(&cursor)) return false;
  if (cursor.TryTake('e') || cursor.TryTake('E')) {
    if (!cursor.TryTake('+')) cursor.TryTake('-');
    if (!TakeDigits(&cursor)) return false;
  }
  return cursor.AtEnd();
}

bool IsNumber(std::string_view token) {
  return IsDecimal(token) || token == "NaN" || token == "Infinity" || token == "-Infinity";
}

// Reads a scalar that is not a string; returns false if the token is not one.
bool ReadScalar(std::string_view token, Json* out) {
  if (token == "null") {
    out->kind = Json::Kind::kNull;
  } else if (token == "true") {
    out->kind = Json::Kind::kTrue;
  } else if (token == "false") {
    out->kind = Json::Kind::kFalse;
  } else if (IsNumber(token)) {
    out->kind = Json::Kind::kNumber;
    out->text = token;
  } else {
    return false;
  }
  return true;
}

// Removes trailing white space: a token extends to the next token.
std::string_view WithoutSpaceBehind(std::string_view token) {
  return token.substr(0, token.find_last_not_of(" \t\n\r") + 1);
}

// A parser for one text. The text must outlive the parser.
class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : text_(text), padded_(text) {}

  absl::StatusOr<Json> Parse() {
    if (const simdjson::error_code error = parser_.iterate(padded_).get(document_)) return TextError(error);
    Json value;
    RETURN_IF_ERROR(Value(document_, 0, &value));
    const size_t at = Offset();
    if (at < text_.size()) return ErrorAt("unexpected text after the value", at);
    return value;
  }

 private:
  // `Source` is the document or a value in it: simdjson has a type for each, with the same calls.
  template <typename Source>
  absl::Status Value(Source& source, int depth, Json* out) {
    const simdjson::simdjson_result<std::string_view> peeked = source.raw_json_token();
    if (peeked.error()) return StructureError(peeked.error());
    const std::string_view token = peeked.value_unsafe();
    switch (token.front()) {
      case '{':
        out->kind = Json::Kind::kObject;
        return depth < kMaxDepth ? Members(source.get_object(), depth + 1, out) : TooDeep(token);
      case '[':
        out->kind = Json::Kind::kArray;
        return depth < kMaxDepth ? Items(source.get_array(), depth + 1, out) : TooDeep(token);
      case '"':
        out->kind = Json::Kind::kString;
        return String(source.get_string(), token.data(), &out->text);
      default:
        if (!ReadScalar(WithoutSpaceBehind(token), out)) return ErrorAt("not a JSON value", ByteOffset(token.data()));
        return Skip(source);
    }
  }

  absl::Status Members(simdjson::simdjson_result<ondemand::object> object, int depth, Json* out) {
    if (object.error()) return StructureError(object.error());
    for (simdjson::simdjson_result<ondemand::field> member : object) {
      if (member.error()) return StructureError(member.error());
      ondemand::field& field = member.value_unsafe();
      auto& [key, value] = out->members.emplace_back(std::string(), Json());
      const char* key_begin = field.key().raw() - 1;
      absl::Status status = String(field.unescaped_key(), key_begin, &key);
      if (status.ok()) status = Value(field.value(), depth, &value);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status Items(simdjson::simdjson_result<ondemand::array> array, int depth, Json* out) {
    if (array.error()) return StructureError(array.error());
    for (simdjson::simdjson_result<ondemand::value> item : array) {
      if (item.error()) return StructureError(item.error());
      RETURN_IF_ERROR(Value(item.value_unsafe(), depth, &out->items.emplace_back()));
    }
    return absl::OkStatus();
  }

  absl::Status String(simdjson::simdjson_result<std::string_view> text, const char* begin, std::string* out) const {
    // Python writes half of a surrogate pair if its string contains one. UTF-8 cannot encode it, so the text is refused
    // instead of changed.
    if (text.error()) return ErrorAt("a bad escape or half a surrogate pair in the string", ByteOffset(begin));
    *out = text.value_unsafe();
    return absl::OkStatus();
  }

  // Skips a scalar. simdjson skips the scalars in an array or object itself. For a scalar that is the whole document,
  // only this call detects text after it.
  absl::Status Skip(ondemand::document& root) {
    const simdjson::error_code error = root.raw_json().error();
    return error ? StructureError(error) : absl::OkStatus();
  }
  static absl::Status Skip(ondemand::value&) { return absl::OkStatus(); }

  // Returns the offset of the next token or of the token that simdjson refused, or the length of the text at its end.
  size_t Offset() {
    const simdjson::simdjson_result<const char*> location = document_.current_location();
    return location.error() ? text_.size() : ByteOffset(location.value_unsafe());
  }

  size_t ByteOffset(const char* place) const { return static_cast<size_t>(place - padded_.data()); }

  static absl::Status ErrorAt(std::string_view what, size_t offset) {
    return absl::InvalidArgumentError(Cat(what, " at byte ", offset));
  }

  absl::Status TooDeep(std::string_view token) const { return ErrorAt("nested too deep", ByteOffset(token.data())); }

  // The first pass over the text reports the kind of error, but not its position.
  absl::Status TextError(simdjson::error_code error) const {
    if (error == simdjson::UTF8_ERROR) return ErrorAt("invalid UTF-8", FindInvalidUtf8(text_));
    return absl::InvalidArgumentError(simdjson::error_message(error));
  }

  absl::Status StructureError(simdjson::error_code error) {
    // simdjson detects this error by checking the last bracket of the text, so there is no offset.
    if (error == simdjson::INCOMPLETE_ARRAY_OR_OBJECT) {
      return absl::InvalidArgumentError("an array or object has no end, or text follows it");
    }
    return ErrorAt("a comma, colon, key or bracket is missing or wrong", Offset());
  }

  const std::string_view text_;
  const simdjson::padded_string padded_;
  ondemand::parser parser_;
  ondemand::document document_;
};

}  // namespace

absl::StatusOr<Json> ParseJson(std::string_view text) { return JsonParser(text).Parse(); }

}  // namespace telemetry::record
