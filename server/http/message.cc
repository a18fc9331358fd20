#include "server/http/message.h"

#include <algorithm>

#include "proto/record/strings.h"

namespace telemetry::http {
namespace {

struct Reason {
  int status;
  std::string_view phrase;
};

constexpr Reason kReasons[] = {
    {200, "OK"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
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
  return std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

}  // namespace

std::string_view ReasonPhrase(int status) {
  const auto* const found =
      std::find_if(std::begin(kReasons), std::end(kReasons), [&](const Reason& reason) { return reason.status == status; });
  return found == std::end(kReasons) ? "Unknown" : found->phrase;
}

std::string FormatHead(const Response& response, bool keep_alive, bool is_secure) {
  std::string head = record::Cat("HTTP/1.1 ", response.status, " ", ReasonPhrase(response.status), "\r\n");
  for (const auto& [name, value] : response.headers) {
    if (IsClean(name) && IsClean(value)) head += record::Cat(name, ": ", value, "\r\n");
  }
  if (response.status != 304) head += record::Cat("Content-Type: ", response.content_type, "\r\n");
  if (response.stream != nullptr) {
    head += "Transfer-Encoding: chunked\r\n";
  } else if (response.status != 304) {
    head += record::Cat("Content-Length: ", response.content().size(), "\r\n");
  }
  head += kSecurityHeaders;
  if (is_secure) head += "Strict-Transport-Security: max-age=31536000\r\n";
  head += record::Cat("Connection: ", keep_alive ? "keep-alive" : "close", "\r\n\r\n");
  return head;
}

}  // namespace telemetry::http
