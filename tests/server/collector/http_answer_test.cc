#include "server/collector/http_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace telemetry::collector {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string Answer(std::string_view head, const absl::Status& allowed = absl::OkStatus()) {
  return AnswerHttp(
      head, [&allowed](const auto& /*authorization*/) { return allowed; }, [] { return "numbers 1\n"; });
}

TEST(HttpAnswer, IsThePage) {
  const std::string answer = Answer("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Length: 10\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\nnumbers 1\n"));
  EXPECT_THAT(Answer("GET /metrics?name=x HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST(HttpAnswer, HasNoBodyForHead) {
  const std::string answer = Answer("HEAD /metrics HTTP/1.1\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 10\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST(HttpAnswer, RefusesEverythingElse) {
  EXPECT_THAT(Answer("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Answer("GET /metrics/ HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Answer("POST /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405"));
  for (const char* head : {"\r\n\r\n", "GET\r\n\r\n", "GET /metrics\r\n\r\n", "GET /metrics HTTP/2\r\n\r\n",
                           "GET  /metrics HTTP/1.1\r\n\r\n"}) {
    EXPECT_THAT(Answer(head), StartsWith("HTTP/1.1 400")) << head;
  }
}

TEST(HttpAnswer, SaysWhyNot) {
  const std::string head = "GET /metrics HTTP/1.1\r\n\r\n";
  const std::string unknown = Answer(head, absl::UnauthenticatedError("no token"));
  EXPECT_THAT(unknown, StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(unknown, HasSubstr("WWW-Authenticate: Bearer\r\n"));
  EXPECT_THAT(unknown, EndsWith("no token\n"));
  EXPECT_THAT(unknown, Not(HasSubstr("numbers")));
  EXPECT_THAT(Answer(head, absl::PermissionDeniedError("no role")), StartsWith("HTTP/1.1 403"));
}

TEST(HttpAnswer, PassesTheAuthorizationOn) {
  std::vector<std::string> seen;
  AnswerHttp(
      "GET /metrics HTTP/1.1\r\nAUTHORIZATION:  Bearer a \r\nX: y\r\nauthorization: Bearer b\r\n\r\n",
      [&seen](const std::vector<std::string_view>& authorization) {
        seen.assign(authorization.begin(), authorization.end());
        return absl::OkStatus();
      },
      [] { return ""; });
  EXPECT_THAT(seen, testing::ElementsAre("Bearer a", "Bearer b"));
}

TEST(HttpAnswer, NeedsAWholeHead) {
  EXPECT_FALSE(IsWholeHttpHead("GET / HTTP/1.1\r\n"));
  EXPECT_TRUE(IsWholeHttpHead("GET / HTTP/1.1\r\n\r\n"));
  EXPECT_THAT(AnswerTooLongHttpHead(), StartsWith("HTTP/1.1 431"));
}

}  // namespace
}  // namespace telemetry::collector
