#include "proto/record/python_string.h"

#include <string_view>

#include "absl/strings/ascii.h"
#include "proto/base/status_macros.h"
#include "proto/record/utf8.h"

namespace telemetry::record {
namespace {

char32_t DigitValue(char digit) {
  const char lower = absl::ascii_tolower(static_cast<unsigned char>(digit));
  return static_cast<char32_t>(lower <= '9' ? lower - '0' : lower - 'a' + 10);
}

// Consumes an opening quote: ', ", ''' or """.
std::string_view TakeOpeningQuote(TextCursor* cursor) {
  const size_t begin = cursor->at();
  const char quote = cursor->Take();
  if (cursor->Rest().size() >= 2 && cursor->Rest()[0] == quote && cursor->Rest()[1] == quote) cursor->Skip(2);
  return cursor->Since(begin);
}

absl::Status TakeHexEscape(TextCursor* cursor, int digits, std::string* out) {
  char32_t code_point = 0;
  for (int i = 0; i < digits; ++i) {
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(cursor->Peek()))) {
      return cursor->Error("an escape has too few hex digits");
    }
    code_point = code_point << 4 | DigitValue(cursor->Take());
  }
  if (!AppendUtf8(code_point, out)) return cursor->Error("an escape names no character");
  return absl::OkStatus();
}

void TakeOctalEscape(TextCursor* cursor, std::string* out) {
  char32_t code_point = 0;
  for (int i = 0; i < 3 && cursor->Peek() >= '0' && cursor->Peek() <= '7'; ++i) {
    code_point = code_point * 8 + DigitValue(cursor->Take());
  }
  AppendUtf8(code_point, out);
}

// Reads an escape. The cursor is after the backslash.
absl::Status TakeEscape(TextCursor* cursor, std::string* out) {
  static constexpr std::string_view kNames = "\\'\"abfnrtv";
  static constexpr std::string_view kValues = "\\'\"\a\b\f\n\r\t\v";
  if (cursor->AtEnd()) return cursor->Error("a string has no end");
  if (cursor->TryTake('\n')) return absl::OkStatus();  // a line continuation
  if (cursor->TryTake('x')) return TakeHexEscape(cursor, 2, out);
  if (cursor->TryTake('u')) return TakeHexEscape(cursor, 4, out);
  if (cursor->TryTake('U')) return TakeHexEscape(cursor, 8, out);
  if (cursor->Peek() == 'N') return cursor->Error("\\N{name} is not supported");
  if (cursor->Peek() >= '0' && cursor->Peek() <= '7') {
    TakeOctalEscape(cursor, out);
    return absl::OkStatus();
  }
  const size_t which = kNames.find(cursor->Peek());
  if (which == std::string_view::npos) {
    out->push_back('\\');  // as in Python, an unknown escape stays as two characters
  } else {
    cursor->Take();
    out->push_back(kValues[which]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status TakePythonString(TextCursor* cursor, std::string* out) {
  const std::string_view quote = TakeOpeningQuote(cursor);
  while (!cursor->TryTake(quote)) {
    if (cursor->AtEnd()) return cursor->Error("a string has no end");
    if (quote.size() == 1 && cursor->Peek() == '\n') return cursor->Error("a line break in a string");
    if (!cursor->TryTake('\\')) {
      out->push_back(cursor->Take());
      continue;
    }
    RETURN_IF_ERROR(TakeEscape(cursor, out));
  }
  return absl::OkStatus();
}

}  // namespace telemetry::record
