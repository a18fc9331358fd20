#include "server/http/target.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "proto/record/utf8.h"

namespace telemetry::http {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool IsCleanText(std::string_view text) {
  return std::none_of(text.begin(), text.end(), IsControl) && record::FindInvalidUtf8(text) == std::string_view::npos;
}

absl::StatusOr<std::string> Decode(std::string_view text, bool plus_is_space) {
  std::optional<std::string> decoded = PercentDecode(text, plus_is_space);
  if (!decoded.has_value()) return absl::InvalidArgumentError("the request's target has a wrong percent-encoding");
  if (!IsCleanText(*decoded)) return absl::InvalidArgumentError("the request's target is not clean UTF-8");
  return *std::move(decoded);
}

absl::Status ParsePath(std::string_view path, Target* target) {
  for (const absl::string_view part : absl::StrSplit(record::AbslView(path.substr(1)), '/')) {
    ASSIGN_OR_RETURN(std::string segment, Decode({part.data(), part.size()}, /*plus_is_space=*/false));
    if (segment == "." || segment == ".." || segment.find_first_of("/\\") != std::string::npos) {
      return absl::InvalidArgumentError("the request's path is not canonical");
    }
    if (target->segments.size() == kMostSegments) return absl::InvalidArgumentError("the request's path is too deep");
    target->path += "/" + segment;
    target->segments.push_back(std::move(segment));
  }
  if (target->segments.back().empty()) target->segments.pop_back();
  const bool has_empty = std::find(target->segments.begin(), target->segments.end(), "") != target->segments.end();
  return has_empty ? absl::InvalidArgumentError("the request's path is not canonical") : absl::OkStatus();
}

absl::Status ParseQuery(std::string_view query, Target* target) {
  if (query.empty()) return absl::OkStatus();
  for (const absl::string_view part : absl::StrSplit(record::AbslView(query), '&')) {
    if (part.empty()) continue;
    if (target->query.size() == kMostParameters) {
      return absl::InvalidArgumentError("the request has too many parameters");
    }
    const size_t equals = std::min(part.find('='), part.size());
    ASSIGN_OR_RETURN(std::string name, Decode({part.data(), equals}, /*plus_is_space=*/true));
    const size_t value_at = std::min(equals + 1, part.size());
    ASSIGN_OR_RETURN(std::string value, Decode({part.data() + value_at, part.size() - value_at}, true));
    target->query.emplace_back(std::move(name), std::move(value));
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<std::string> Target::Find(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string> Target::FindAll(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : query) {
    if (key == name) values.push_back(value);
  }
  return values;
}

std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(plus_is_space && text[i] == '+' ? ' ' : text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = HexDigit(text[i + 1]);
    const int low = HexDigit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return out;
}

absl::StatusOr<Target> ParseTarget(std::string_view text) {
  if (!text.starts_with('/')) return absl::InvalidArgumentError("the request's target is not a path");
  const size_t question = std::min(text.find('?'), text.size());
  Target target;
  RETURN_IF_ERROR(ParsePath(text.substr(0, question), &target));
  RETURN_IF_ERROR(ParseQuery(text.substr(std::min(question + 1, text.size())), &target));
  return target;
}

}  // namespace telemetry::http
