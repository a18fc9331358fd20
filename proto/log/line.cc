#include "proto/log/line.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_format.h"
#include "proto/record/json.h"
#include "proto/record/utf8.h"

namespace telemetry::log {
namespace {

constexpr size_t kMostBytes = 1000;
constexpr char32_t kReplacement = 0xFFFD;

// Returns well-formed UTF-8 of at most kMostBytes. `bad` returns the replacement for a byte that is not UTF-8.
template <typename Bad>
std::string Clean(std::string_view text, Bad bad) {
  std::string clean;
  const bool cut = text.size() > kMostBytes;
  text = text.substr(0, kMostBytes);
  while (true) {
    const size_t good = std::min(record::FindInvalidUtf8(text), text.size());
    clean.append(text.substr(0, good));
    if (good == text.size()) break;
    clean += bad(static_cast<unsigned char>(text[good]));
    text.remove_prefix(good + 1);
  }
  return cut ? clean + "..." : clean;
}

// Returns true for characters that affect a terminal or a reader of lines: controls, line and paragraph separators, and
// marks that change the writing direction.
bool Acts(char32_t point) {
  return point < 0x20 || (point >= 0x7F && point <= 0x9F) || (point >= 0x200E && point <= 0x200F) ||
         (point >= 0x2028 && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
}

std::string Escape(std::string_view text, std::string_view also) {
  const std::string clean = Clean(text, [](unsigned char byte) { return absl::StrFormat("\\x%02x", byte); });
  std::string escaped;
  for (size_t at = 0; at < clean.size();) {
    const size_t begin = at;
    const char32_t point = record::NextCodePoint(clean, &at);
    if (point == '\n') {
      escaped += "\\n";
    } else if (Acts(point)) {
      absl::StrAppendFormat(&escaped, "\\u%04x", static_cast<unsigned>(point));
    } else {
      if (point < 0x80 && also.find(static_cast<char>(point)) != std::string_view::npos) escaped += '\\';
      escaped.append(clean, begin, at - begin);
    }
  }
  return escaped;
}

bool NeedsQuotes(std::string_view text) { return text.find_first_of(" \"\\=") != std::string_view::npos; }

std::string JsonText(std::string_view text) {
  std::string replacement;
  record::AppendUtf8(kReplacement, &replacement);
  std::string json;
  record::AppendJsonString(Clean(text, [&](unsigned char) { return replacement; }), &json);
  return json;
}

}  // namespace

std::string OneLine(std::string_view text) { return Escape(text, ""); }

std::string TextLine(std::string_view message, Fields fields) {
  std::string line = OneLine(message);
  const char* separator = ": ";
  for (const Field& field : fields) {
    if (field.text.empty()) continue;
    absl::StrAppend(&line, separator, field.name, "=");
    separator = " ";
    const bool quotes = field.quoted && NeedsQuotes(field.text);
    absl::StrAppend(&line, quotes ? "\"" : "", Escape(field.text, quotes ? "\"\\" : ""), quotes ? "\"" : "");
  }
  return line;
}

std::string JsonMembers(std::string_view message, Fields fields) {
  std::string members = "\"message\": " + JsonText(message);
  for (const Field& field : fields) {
    if (field.text.empty()) continue;
    absl::StrAppend(&members, ", \"", field.name, "\": ", field.quoted ? JsonText(field.text) : field.text);
  }
  return members;
}

}  // namespace telemetry::log
