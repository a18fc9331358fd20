#include "server/web/json/clean_text.h"

#include <algorithm>

#include "proto/record/utf8.h"

namespace telemetry::web::json {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";
constexpr size_t kLongestCodePoint = 4;  // bytes

bool ContinuesCodePoint(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

void AppendWithoutNul(std::string_view text, std::string* out) {
  for (const char c : text) {
    c == '\0' ? out->append(kReplacement) : out->append(1, c);
  }
}

}  // namespace

std::string CleanText(std::string_view text, size_t most_bytes) {
  const bool is_cut = text.size() > most_bytes;
  if (is_cut) {
    size_t end = most_bytes;
    while (end > 0 && most_bytes - end < kLongestCodePoint && ContinuesCodePoint(text[end])) --end;
    text = text.substr(0, end);
  }
  std::string clean;
  clean.reserve(text.size() + kEllipsis.size());
  while (!text.empty()) {
    const size_t valid = std::min(record::FindInvalidUtf8(text), text.size());
    AppendWithoutNul(text.substr(0, valid), &clean);
    text.remove_prefix(valid);
    if (text.empty()) break;
    clean += kReplacement;
    text.remove_prefix(1);
  }
  if (is_cut) clean += kEllipsis;
  return clean;
}

}  // namespace telemetry::web::json
