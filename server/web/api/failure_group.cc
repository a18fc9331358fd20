#include "server/web/api/failure_group.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "proto/record/strings.h"
#include "server/storage/sql/failure_json.h"
#include "server/web/json/clean_text.h"

namespace telemetry::web::api {
namespace {

constexpr size_t kIdDigits = 16;
constexpr size_t kLeastHashDigits = 8;

// Returns the length of the number, address or hash that the text begins with, or 0.
size_t NumberLength(std::string_view text) {
  size_t length = text.starts_with("0x") ? 2 : 0;
  bool has_digit = false;
  bool is_decimal = length == 0;
  for (; length < text.size() && absl::ascii_isxdigit(static_cast<unsigned char>(text[length])); ++length) {
    const bool is_digit = absl::ascii_isdigit(static_cast<unsigned char>(text[length]));
    has_digit = has_digit || is_digit;
    is_decimal = is_decimal && is_digit;
  }
  if (!has_digit) return 0;
  const bool ends_word = length == text.size() || !absl::ascii_isalnum(static_cast<unsigned char>(text[length]));
  if (is_decimal || text.starts_with("0x") || (ends_word && length >= kLeastHashDigits)) return length;
  return absl::ascii_isdigit(static_cast<unsigned char>(text.front())) ? text.find_first_not_of("0123456789") : 0;
}

// The longest escape of a character in a JSON string: two halves of a surrogate pair.
constexpr size_t kLongestEscape = 12;

// Parses a failure, whose text may be cut within its message.
v1::Failure ParseFailure(std::string_view text) {
  v1::Failure failure;
  std::string closed(text);
  // An escape may be cut too.
  for (size_t dropped = 0; !record::ParseJson(closed).ok() && dropped <= std::min(kLongestEscape, text.size());
       ++dropped) {
    closed = record::Cat(text.substr(0, text.size() - dropped), "\"}");
  }
  storage::sql::FailureFromJson(record::ParseJson(closed).ok() ? std::string_view(closed) : text, &failure);
  return failure;
}

}  // namespace

std::string FailureReason::Id() const {
  std::string key;
  for (const std::string* part : {&status, &phase, &error_class, &code, &message}) {
    key += *part;
    key.push_back('\0');
  }
  return record::Sha256Hex(key).substr(0, kIdDigits);
}

std::string GeneralMessage(std::string_view message) {
  const std::string line = json::CleanText(message.substr(0, message.find('\n')), json::kListTextBytes);
  std::string out;
  char before = ' ';
  for (size_t i = 0; i < line.size();) {
    const bool begins_word = !absl::ascii_isalnum(static_cast<unsigned char>(before)) && before != '_';
    const size_t length = begins_word ? NumberLength(std::string_view(line).substr(i)) : 0;
    before = line[i];
    length > 0 ? out.push_back('#') : out.push_back(line[i]);
    i += std::max<size_t>(length, 1);
  }
  return out;
}

FailureReason ReasonOf(const std::string& status, std::string_view failure) {
  FailureReason reason = {.status = status};
  if (failure.empty()) return reason;
  const v1::Failure parsed = ParseFailure(failure);
  reason.phase = json::CleanText(parsed.phase(), json::kListTextBytes);
  reason.error_class = json::CleanText(parsed.error_class(), json::kListTextBytes);
  reason.code = json::CleanText(parsed.code(), json::kListTextBytes);
  reason.message = GeneralMessage(parsed.message());
  return reason;
}

std::string FailureText(std::string_view failure) {
  if (failure.empty()) return "";
  const v1::Failure parsed = ParseFailure(failure);
  std::string text;
  for (const std::string* part : {&parsed.phase(), &parsed.error_class(), &parsed.code(), &parsed.message()}) {
    if (!part->empty()) text += record::Cat(text.empty() ? "" : ": ", *part);
  }
  return text;
}

}  // namespace telemetry::web::api
