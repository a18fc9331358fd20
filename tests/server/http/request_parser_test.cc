#include "server/http/request_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "server/http/refusal.h"

namespace telemetry::http {
namespace {

using State = RequestParser::State;
using ::testing::HasSubstr;

// Gives the bytes to the parser in parts of at most `part` bytes and returns its last state.
State Feed(RequestParser& parser, std::string_view bytes, size_t part = SIZE_MAX) {
  State state = State::kNeedsMore;
  while (!bytes.empty() && (state == State::kNeedsMore || state == State::kWantsContinue)) {
    const boost::asio::mutable_buffer space = parser.Space();
    const size_t size = std::min({part, space.size(), bytes.size()});
    std::memcpy(space.data(), bytes.data(), size);
    parser.Commit(size);
    bytes.remove_prefix(size);
    state = parser.Parse();
  }
  return state;
}

class RequestParserTest : public ::testing::Test {
 protected:
  RequestParser parser_{512, 64};
};

TEST_F(RequestParserTest, ReadsARequestInAnyParts) {
  for (const size_t part : {size_t{1}, size_t{7}, SIZE_MAX}) {
    RequestParser parser(512, 64);
    ASSERT_EQ(Feed(parser,
                   "POST /api/v1/session?a=b HTTP/1.1\r\nHost: h:1\r\nOrigin: http://h:1\r\nauthorization: Bearer t\r\n"
                   "Cookie: c=d\r\nContent-Type: application/json\r\nIf-None-Match: \"e\"\r\nX-Requested-With: page\r\n"
                   "Accept-Encoding: br, gzip\r\nContent-Length: 5\r\n\r\n12345",
                   part),
              State::kDone);
    EXPECT_TRUE(parser.keep_alive());
    EXPECT_FALSE(parser.is_head());
    const absl::StatusOr<Request> request = parser.Take();
    ASSERT_TRUE(request.ok()) << request.status();
    EXPECT_EQ(request->method, "POST");
    EXPECT_EQ(request->target.path, "/api/v1/session");
    EXPECT_EQ(request->target.Find("a"), "b");
    EXPECT_EQ(request->host, "h:1");
    EXPECT_EQ(request->origin, "http://h:1");
    EXPECT_EQ(request->authorization, "Bearer t");
    EXPECT_EQ(request->cookie, "c=d");
    EXPECT_EQ(request->content_type, "application/json");
    EXPECT_EQ(request->if_none_match, "\"e\"");
    EXPECT_EQ(request->requested_with, "page");
    EXPECT_TRUE(request->accepts_gzip);
    EXPECT_EQ(request->body, "12345");
  }
}

TEST_F(RequestParserTest, KeepsTheBytesOfTheNextRequest) {
  ASSERT_EQ(Feed(parser_, "GET /1 HTTP/1.1\r\n\r\nHEAD /2 HTTP/1.0\r\n\r\nGET"), State::kDone);
  EXPECT_EQ(parser_.Take()->target.path, "/1");
  parser_.Next();
  EXPECT_TRUE(parser_.has_bytes());
  ASSERT_EQ(parser_.Parse(), State::kDone);
  EXPECT_TRUE(parser_.is_head());
  EXPECT_TRUE(parser_.is_http_1_0());
  EXPECT_FALSE(parser_.keep_alive());
  EXPECT_EQ(parser_.Take()->target.path, "/2");
  parser_.Next();
  EXPECT_EQ(parser_.Parse(), State::kNeedsMore);
}

TEST_F(RequestParserTest, ReportsOnceThatTheClientWaits) {
  EXPECT_EQ(Feed(parser_, "POST / HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n"),
            State::kWantsContinue);
  EXPECT_EQ(Feed(parser_, "a"), State::kNeedsMore);
  EXPECT_EQ(Feed(parser_, "b"), State::kDone);
  parser_.Next();
  EXPECT_EQ(Feed(parser_, "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab"), State::kDone);
}

int StatusOfUnreadable(std::string_view bytes) {
  RequestParser parser(512, 64);
  EXPECT_EQ(Feed(parser, bytes), State::kUnreadable) << bytes;
  return RefuseUnreadable(parser.error()).status;
}

TEST_F(RequestParserTest, LimitsHeadAndBody) {
  EXPECT_EQ(StatusOfUnreadable(absl::StrCat("GET /", std::string(600, 'a'))), 431);
  EXPECT_EQ(StatusOfUnreadable(absl::StrCat("GET / HTTP/1.1\r\nX: ", std::string(600, 'a'))), 431);
  EXPECT_EQ(StatusOfUnreadable("POST / HTTP/1.1\r\nContent-Length: 65\r\n\r\n"), 413);
  EXPECT_EQ(StatusOfUnreadable("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"), 400);
}

TEST_F(RequestParserTest, LimitsAHeadThatArrivesLineByLine) {
  ASSERT_EQ(Feed(parser_, "GET / HTTP/1.1\r\n"), State::kNeedsMore);
  State state = State::kNeedsMore;
  int lines = 0;
  for (; lines < 1'000 && state == State::kNeedsMore; ++lines) state = Feed(parser_, "a: 12345\r\n");
  EXPECT_EQ(lines, 50);
  EXPECT_EQ(RefuseUnreadable(parser_.error()).status, 431);
}

TEST_F(RequestParserTest, LimitsTheNumberOfHeaders) {
  std::string headers;
  for (size_t i = 0; i < kMostHeaders; ++i) headers += "a:\r\n";
  const std::string body(50, '\n');
  const std::string most = absl::StrCat("POST / HTTP/1.1\r\n", headers.substr(4), "Content-Length: 50\r\n\r\n", body);
  for (const size_t part : {size_t{1}, SIZE_MAX}) {
    RequestParser parser(4096, 64);
    EXPECT_EQ(Feed(parser, most, part), State::kDone);
    RequestParser refusing(4096, 64);
    EXPECT_EQ(Feed(refusing, absl::StrCat("GET / HTTP/1.1\r\n", headers, "b:\r\n\r\n"), part), State::kUnreadable);
    EXPECT_EQ(RefuseUnreadable(refusing.error()).status, 431);
  }
}

TEST_F(RequestParserTest, RefusesWhatIsNotARequest) {
  for (const char* text :
       {"\r\n\r\n", "GET\r\n\r\n", "GET / H\r\n\r\n", "GET / H\r\n\r\nTTP/1.1\r\n\r\n", "GET /\r\n\r\n",
        "GET / HTTP/2.0\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\nHost: x\n\n",
        "GET / HTTP/1.1\r\nHost : x\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n", "G\x01T / HTTP/1.1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"}) {
    EXPECT_EQ(StatusOfUnreadable(text), 400) << text;
  }
}

TEST_F(RequestParserTest, RefusesABodyWithoutItsLength) {
  for (const char* headers : {"Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip\r\n",
                              "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
                              "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n"}) {
    EXPECT_EQ(StatusOfUnreadable(absl::StrCat("POST / HTTP/1.1\r\n", headers, "\r\n")), 411) << headers;
  }
}

TEST_F(RequestParserTest, RefusesARepeatedHeader) {
  for (const char* name : {"Host", "Origin", "Authorization", "Cookie", "Content-Type"}) {
    RequestParser parser(512, 64);
    ASSERT_EQ(Feed(parser, absl::StrCat("GET / HTTP/1.1\r\n", name, ": a\r\n", name, ": a\r\n\r\n")), State::kDone);
    const absl::Status status = parser.Take().status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(name));
  }
}

TEST_F(RequestParserTest, RefusesATargetThatIsNotClean) {
  ASSERT_EQ(Feed(parser_, "GET /%2e%2e/etc HTTP/1.1\r\n\r\n"), State::kDone);
  EXPECT_TRUE(absl::IsInvalidArgument(parser_.Take().status()));
}

}  // namespace
}  // namespace telemetry::http
