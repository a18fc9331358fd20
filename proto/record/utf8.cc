#include "proto/record/utf8.h"

#include <cstdint>
#include <cstring>

namespace telemetry::record {
namespace {

uint8_t ByteAt(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]); }

// Returns the length of the well-formed sequence at `at`, or 0 if there is none. The bounds on the second byte are
// those of table 3-7 of the Unicode standard. They exclude overlong forms, surrogates and values beyond U+10FFFF.
size_t SequenceLength(std::string_view text, size_t at) {
  const uint8_t lead = ByteAt(text, at);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() - at < length) return 0;
  const uint8_t lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const uint8_t highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  const uint8_t second = ByteAt(text, at + 1);
  if (second < lowest || second > highest) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((ByteAt(text, at + i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

// Skips ASCII, eight bytes at a time, because nearly all text is ASCII.
size_t SkipAscii(std::string_view text, size_t at) {
  for (; text.size() - at >= 8; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & 0x8080808080808080u) != 0) break;
  }
  while (at < text.size() && ByteAt(text, at) < 0x80) ++at;
  return at;
}

}  // namespace

size_t FindInvalidUtf8(std::string_view text) {
  for (size_t at = SkipAscii(text, 0); at < text.size(); at = SkipAscii(text, at)) {
    const size_t length = SequenceLength(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

char32_t NextCodePoint(std::string_view text, size_t* at) {
  const uint8_t lead = ByteAt(text, (*at)++);
  if (lead < 0x80) return lead;
  const int more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  char32_t code_point = lead & (0x3F >> more);
  for (int i = 0; i < more && *at < text.size(); ++i) code_point = code_point << 6 | (ByteAt(text, (*at)++) & 0x3F);
  return code_point;
}

bool AppendUtf8(char32_t code_point, std::string* out) {
  const auto put = [out](char32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
    return true;
  }
  if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF)) return false;
  if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
  } else {
    if (code_point < 0x10000) {
      put(0xE0 | code_point >> 12);
    } else {
      put(0xF0 | code_point >> 18);
      put(0x80 | (code_point >> 12 & 0x3F));
    }
    put(0x80 | (code_point >> 6 & 0x3F));
  }
  put(0x80 | (code_point & 0x3F));
  return true;
}

}  // namespace telemetry::record
