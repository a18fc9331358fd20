#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "proto/record/json.h"
#include "proto/record/numbers.h"
#include "proto/record/utf8.h"

namespace telemetry::record {
namespace {

void AppendUtf16Escape(uint32_t unit, std::string* out) {
  static constexpr char kDigits[] = "0123456789abcdef";
  out->append("\\u");
  for (int shift = 12; shift >= 0; shift -= 4) out->push_back(kDigits[unit >> shift & 0xF]);
}

void AppendCodePointEscape(char32_t code_point, std::string* out) {
  if (code_point < 0x10000) return AppendUtf16Escape(code_point, out);
  AppendUtf16Escape(0xD800 + ((code_point - 0x10000) >> 10), out);
  AppendUtf16Escape(0xDC00 + ((code_point - 0x10000) & 0x3FF), out);
}

// Returns the letter after the backslash, or 0 if the character has no short escape.
char ShortEscape(char c) {
  switch (c) {
    case '"':
    case '\\':
      return c;
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '\f':
      return 'f';
    case '\b':
      return 'b';
    default:
      return 0;
  }
}

bool IsPlain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

// The separators and the indentation of json.dumps.
struct Layout {
  std::string_view item_separator = ", ";
  std::string_view key_separator = ": ";
  size_t indent = 0;  // spaces per level; 0: all on one line
};

class Formatter {
 public:
  Formatter(const Layout& layout, std::string* out) : layout_(layout), out_(out) {}

  void Append(const Json& value) {
    switch (value.kind) {
      case Json::Kind::kNull:
        out_->append("null");
        return;
      case Json::Kind::kTrue:
        out_->append("true");
        return;
      case Json::Kind::kFalse:
        out_->append("false");
        return;
      case Json::Kind::kNumber:
        out_->append(value.text);
        return;
      case Json::Kind::kString:
        AppendJsonString(value.text, out_);
        return;
      case Json::Kind::kArray:
        return AppendAll('[', value.items, ']', [this](const Json& item) { Append(item); });
      case Json::Kind::kObject:
        return AppendAll('{', value.members, '}', [this](const auto& member) {
          AppendJsonString(member.first, out_);
          out_->append(layout_.key_separator);
          Append(member.second);
        });
    }
  }

 private:
  template <typename Items, typename AppendOne>
  void AppendAll(char open, const Items& items, char close, AppendOne append_one) {
    out_->push_back(open);
    ++level_;
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_->append(layout_.item_separator);
      first = false;
      BreakLine();
      append_one(item);
    }
    --level_;
    if (!items.empty()) BreakLine();
    out_->push_back(close);
  }

  void BreakLine() {
    if (layout_.indent == 0) return;
    out_->push_back('\n');
    out_->append(level_ * layout_.indent, ' ');
  }

  const Layout layout_;
  std::string* const out_;
  size_t level_ = 0;
};

// Returns the value as Python has it after loading: the last of equal keys, numbers in their normal form.
Json Canonical(Json result) {
  if (result.kind == Json::Kind::kNumber) result.text = NormalNumber(result.text);
  for (Json& item : result.items) item = Canonical(std::move(item));
  for (auto& [key, member] : result.members) member = Canonical(std::move(member));
  // Python sorts by code point, which is the byte order of UTF-8. Reversing first makes std::unique keep the last of
  // equal keys.
  std::reverse(result.members.begin(), result.members.end());
  const auto key_less = [](const auto& a, const auto& b) { return a.first < b.first; };
  const auto key_equal = [](const auto& a, const auto& b) { return a.first == b.first; };
  std::stable_sort(result.members.begin(), result.members.end(), key_less);
  result.members.erase(std::unique(result.members.begin(), result.members.end(), key_equal), result.members.end());
  return result;
}

std::string Format(const Json& value, const Layout& layout) {
  std::string out;
  Formatter(layout, &out).Append(value);
  return out;
}

}  // namespace

void AppendJsonString(std::string_view value, std::string* out) {
  out->push_back('"');
  for (size_t at = 0; at < value.size();) {
    const size_t plain = at;
    while (at < value.size() && IsPlain(value[at])) ++at;
    out->append(value.substr(plain, at - plain));
    if (at == value.size()) break;
    if (const char letter = ShortEscape(value[at]); letter != 0) {
      out->push_back('\\');
      out->push_back(letter);
      ++at;
    } else {
      AppendCodePointEscape(NextCodePoint(value, &at), out);
    }
  }
  out->push_back('"');
}

void AppendJson(const Json& value, std::string* out) { Formatter(Layout{}, out).Append(value); }

std::string ToJson(const Json& value) { return Format(value, Layout{}); }

std::string ToIndentedJson(const Json& value) { return Format(value, {.item_separator = ",", .indent = 2}); }

std::string ToCanonicalJson(const Json& value) {
  return Format(Canonical(value), {.item_separator = ",", .key_separator = ":"});
}

}  // namespace telemetry::record
