#include "server/http/refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/beast/http/error.hpp>

#include "tests/server/access/log_capture.h"

namespace telemetry::http {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

TEST(ErrorResponse, QuotesTheMessage) {
  const Response response = ErrorResponse(400, "no \"name\"\n");
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body, "{\"error\": {\"message\": \"no \\\"name\\\"\\n\"}}\n");
  EXPECT_THAT(response.headers, Contains(Pair("Cache-Control", "no-store")));
}

TEST(ErrorResponse, HasTheStatusOfTheError) {
  EXPECT_EQ(ErrorResponse(absl::InvalidArgumentError("x")).status, 400);
  EXPECT_EQ(ErrorResponse(absl::PermissionDeniedError("x")).status, 403);
  EXPECT_EQ(ErrorResponse(absl::NotFoundError("x")).status, 404);
  EXPECT_EQ(ErrorResponse(WrongHost(absl::PermissionDeniedError("x"))).status, 421);
  EXPECT_EQ(ErrorResponse(absl::ResourceExhaustedError("x")).status, 429);
  const Response unauthenticated = ErrorResponse(absl::UnauthenticatedError("x"));
  EXPECT_EQ(unauthenticated.status, 401);
  EXPECT_THAT(unauthenticated.headers, Contains(Pair("WWW-Authenticate", "Bearer")));
}

TEST(ErrorResponse, HidesTheReasonOfAFault) {
  const access::LogCapture log;
  const Response fault = ErrorResponse(absl::InternalError("secret path"));
  EXPECT_EQ(fault.status, 500);
  EXPECT_THAT(fault.body, Not(HasSubstr("secret")));
  const Response away = ErrorResponse(absl::UnavailableError("secret host"));
  EXPECT_EQ(away.status, 503);
  EXPECT_THAT(away.body, Not(HasSubstr("secret")));
  EXPECT_THAT(away.headers, Contains(Pair("Retry-After", "1")));
  EXPECT_THAT(log.text(), HasSubstr("secret path"));
}

TEST(RefuseUnreadable, TellsWhichLimit) {
  using Reason = boost::beast::http::error;
  EXPECT_EQ(RefuseUnreadable(Reason::header_limit).status, 431);
  EXPECT_EQ(RefuseUnreadable(Reason::buffer_overflow).status, 431);
  EXPECT_EQ(RefuseUnreadable(Reason::body_limit).status, 413);
  EXPECT_EQ(RefuseUnreadable(Reason::bad_method).status, 400);
  EXPECT_EQ(Overloaded().status, 503);
}

}  // namespace
}  // namespace telemetry::http
