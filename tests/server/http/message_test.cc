#include "server/http/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace telemetry::http {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class NoStream final : public BodyStream {
 public:
  bool Take(std::string* /*text*/, std::function<void()> /*wake*/) override { return false; }
  void Close() override {}
};

std::string Head(const Response& response, bool is_http_1_0 = false) {
  return FormatHead(response, FramingOf(response, is_http_1_0), /*keep_alive=*/true);
}

TEST(FormatHead, HasTheHeadersOfEveryResponse) {
  const std::string head = Head({.status = 404, .headers = {{"Cache-Control", "no-store"}}, .body = "12345"});
  EXPECT_THAT(head, StartsWith("HTTP/1.1 404 Not Found\r\nCache-Control: no-store\r\n"));
  EXPECT_THAT(head, HasSubstr("\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 5\r\n"));
  EXPECT_THAT(head, HasSubstr("\r\nContent-Security-Policy: default-src 'none'; script-src 'self'; "));
  EXPECT_THAT(head, HasSubstr("\r\nX-Content-Type-Options: nosniff\r\n"));
  EXPECT_THAT(head, ContainsRegex("\r\nDate: [A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT\r\n"));
  EXPECT_THAT(head, EndsWith("\r\nConnection: keep-alive\r\n\r\n"));
  EXPECT_THAT(FormatHead({}, Framing::kLength, /*keep_alive=*/false), EndsWith("\r\nConnection: close\r\n\r\n"));
}

TEST(FormatHead, LeavesOutAHeaderWithALineBreak) {
  const std::string head = Head({.content_type = "text/html\r\nX-Evil: 1",
                                 .headers = {{"X-A", "a\r\nX-Evil: 1"},
                                             {"X-B\r\nX-Evil", "1"},
                                             {"X-C", "a\nX-Evil: 1"},
                                             {"X-D", std::string("a\0X-Evil: 1", 11)},
                                             {"X-Good", "caf\u00e9"}}});
  EXPECT_THAT(head, Not(HasSubstr("X-Evil")));
  EXPECT_THAT(head, HasSubstr("\r\nX-Good: caf\u00e9\r\n"));
}

TEST(FormatHead, FramesTheBody) {
  for (const int status : {204, 304}) {
    const std::string none = Head({.status = status, .body = "ignored"});
    EXPECT_THAT(none, Not(HasSubstr("Content-Length")));
    EXPECT_THAT(none, Not(HasSubstr("Content-Type:")));
  }
  const Response stream = {.stream = std::make_shared<NoStream>()};
  EXPECT_THAT(Head(stream), HasSubstr("\r\nTransfer-Encoding: chunked\r\n"));
  EXPECT_THAT(Head(stream), Not(HasSubstr("Content-Length")));
  EXPECT_THAT(Head(stream, /*is_http_1_0=*/true), Not(HasSubstr("Transfer-Encoding")));
}

TEST(Response, ContainsItsBodyOrASharedOne) {
  EXPECT_EQ(Response{.body = "own"}.content(), "own");
  EXPECT_EQ(Response{.shared_body = "static"}.content(), "static");
}

TEST(ReasonPhrase, NamesTheStatus) {
  EXPECT_EQ(ReasonPhrase(200), "OK");
  EXPECT_EQ(ReasonPhrase(431), "Request Header Fields Too Large");
  EXPECT_EQ(ReasonPhrase(999), "Unknown");
}

}  // namespace
}  // namespace telemetry::http
