#include "server/http/message.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/record/strings.h"

namespace telemetry::http {
namespace {

struct Reason {
  int status;
  std::string_view phrase;
};

constexpr Reason kReasons[] = {
    {200, "OK"},
    {204, "No Content"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {421, "Misdirected Request"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
};

// Only this server's own scripts, styles and images load, nothing inline, and no page of another site embeds this one.
constexpr std::string_view kSecurityHeaders =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types default\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Permissions-Policy: camera=(), geolocation=(), microphone=()\r\n";

bool IsClean(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

void AppendHeader(std::string_view name, std::string_view value, std::string* head) {
  if (IsClean(name) && IsClean(value)) *head += record::Cat(name, ": ", value, "\r\n");
}

}  // namespace

std::string_view ReasonPhrase(int status) {
  const auto* const found = std::find_if(std::begin(kReasons), std::end(kReasons),
                                         [&](const Reason& reason) { return reason.status == status; });
  return found == std::end(kReasons) ? "Unknown" : found->phrase;
}

Framing FramingOf(const Response& response, bool is_http_1_0) {
  if (response.status == 204 || response.status == 304) return Framing::kNone;
  if (response.stream == nullptr) return Framing::kLength;
  return is_http_1_0 ? Framing::kEndOfConnection : Framing::kChunks;
}

std::string FormatHead(const Response& response, Framing framing, bool keep_alive) {
  std::string head = record::Cat("HTTP/1.1 ", response.status, " ", ReasonPhrase(response.status), "\r\n");
  for (const auto& [name, value] : response.headers) AppendHeader(name, value, &head);
  if (framing != Framing::kNone) AppendHeader("Content-Type", response.content_type, &head);
  if (framing == Framing::kLength) AppendHeader("Content-Length", std::to_string(response.content().size()), &head);
  if (framing == Framing::kChunks) AppendHeader("Transfer-Encoding", "chunked", &head);
  AppendHeader("Date", absl::FormatTime("%a, %d %b %E4Y %H:%M:%S GMT", absl::Now(), absl::UTCTimeZone()), &head);
  head += kSecurityHeaders;
  AppendHeader("Connection", keep_alive ? "keep-alive" : "close", &head);
  return head + "\r\n";
}

}  // namespace telemetry::http
