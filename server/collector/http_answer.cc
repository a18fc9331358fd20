#include "server/collector/http_answer.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace telemetry::collector {
namespace {

constexpr absl::string_view kEndOfHead = "\r\n\r\n";
constexpr absl::string_view kPage = "/metrics";

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

std::string Answer(absl::string_view status, absl::string_view body, absl::string_view more_headers = "") {
  return absl::StrCat("HTTP/1.1 ", status, "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n",
                      "Content-Length: ", body.size(), "\r\nConnection: close\r\n", more_headers, "\r\n", body);
}

std::vector<std::string_view> HeaderValues(const std::vector<absl::string_view>& lines, absl::string_view name) {
  std::vector<std::string_view> values;
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(lines[i], absl::MaxSplits(':', 1));
    if (!absl::EqualsIgnoreCase(parts.first, name)) continue;
    const absl::string_view value = absl::StripAsciiWhitespace(parts.second);
    values.emplace_back(value.data(), value.size());
  }
  return values;
}

std::string Refuse(const absl::Status& why) {
  if (!absl::IsUnauthenticated(why)) return Answer("403 Forbidden", absl::StrCat(why.message(), "\n"));
  return Answer("401 Unauthorized", absl::StrCat(why.message(), "\n"), "WWW-Authenticate: Bearer\r\n");
}

}  // namespace

bool IsWholeHttpHead(std::string_view bytes) { return absl::StrContains(View(bytes), kEndOfHead); }

std::string AnswerHttp(std::string_view head, const AllowHttp& allow, const std::function<std::string()>& metrics) {
  const std::vector<absl::string_view> lines = absl::StrSplit(View(head), "\r\n");
  const std::vector<absl::string_view> words = absl::StrSplit(lines[0], ' ');
  if (words.size() != 3 || !absl::StartsWith(words[2], "HTTP/1."))
    return Answer("400 Bad Request", "the request is not HTTP/1.x\n");
  const bool is_head = words[0] == "HEAD";
  if (words[0] != "GET" && !is_head) return Answer("405 Method Not Allowed", "", "Allow: GET, HEAD\r\n");
  const std::pair<absl::string_view, absl::string_view> target = absl::StrSplit(words[1], absl::MaxSplits('?', 1));
  if (target.first != kPage) return Answer("404 Not Found", "the metrics are at /metrics\n");
  if (const absl::Status status = allow(HeaderValues(lines, "authorization")); !status.ok()) return Refuse(status);
  std::string answer = Answer("200 OK", metrics());
  if (is_head) answer.resize(answer.find(kEndOfHead.data()) + kEndOfHead.size());
  return answer;
}

std::string AnswerTooLongHttpHead() { return Answer("431 Request Header Fields Too Large", ""); }

}  // namespace telemetry::collector
