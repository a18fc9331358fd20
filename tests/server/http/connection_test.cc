// Tests the conversation of a connection with one client: requests, responses and refusals.

#include "server/http/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/server/http/http_story.h"

namespace telemetry::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

void Echo(const Request& request, const Handler::Respond& respond) {
  respond(TextResponse(absl::StrCat(request.method, " ", request.target.path, " ", request.body)));
}

TEST(Connection, AnswersOneRequestAfterTheOther) {
  const HttpStory story({}, Echo);
  HttpClient client = story.Connect();
  for (const char* path : {"/1", "/2", "/3"}) {
    client.Send(Get(path));
    const std::string response = client.ReadResponse();
    EXPECT_THAT(response, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(response, HasSubstr("Connection: keep-alive\r\n"));
    EXPECT_THAT(response, EndsWith(absl::StrCat("\r\n\r\nGET ", path, " ")));
  }
  client.Send(Get("/4", "Host: localhost\r\nConnection: close\r\n"));
  const std::string last = client.ReadAll();
  EXPECT_THAT(last, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(last, EndsWith("GET /4 "));
}

TEST(Connection, AnswersPipelinedRequestsInTheirOrder) {
  const HttpStory story({}, [&](const Request& request, const Handler::Respond& respond) {
    respond(TextResponse(request.target.path + request.body));
  });
  HttpClient client = story.Connect();
  client.Send(absl::StrCat("POST /1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nbody", Get("/2"), Get("/3"),
                           "GET /4 HTTP/1.1\r\nHo"));
  for (const char* end : {"/1body", "/2", "/3"}) EXPECT_THAT(client.ReadResponse(), EndsWith(end));
  client.Send("st: localhost\r\n\r\n");
  EXPECT_THAT(client.ReadResponse(), EndsWith("/4"));
}

TEST(Connection, SendsNoBodyForHead) {
  const HttpStory story;
  HttpClient client = story.Connect();
  client.Send("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client.ReadResponse(/*has_body=*/false), HasSubstr("\r\nContent-Length: 5\r\n"));
  client.Send(Get("/"));
  EXPECT_THAT(client.ReadResponse(), AllOf(StartsWith("HTTP/1.1 200"), EndsWith("\r\n\r\nhello")));
}

TEST(Connection, SendsNoBodyWithAStatusThatHasNone) {
  const HttpStory story({}, [](const Request& /*request*/, const Handler::Respond& respond) {
    respond({.status = 304, .body = "unexpected"});
  });
  HttpClient client = story.Connect();
  for (int i = 0; i < 2; ++i) {
    client.Send(Get("/"));
    EXPECT_THAT(client.ReadResponse(), StartsWith("HTTP/1.1 304 Not Modified\r\n"));
  }
}

TEST(Connection, SendsSharedBodies) {
  static const std::string kPage(3 << 20, 'x');
  const HttpStory story({}, [](const Request& /*request*/, const Handler::Respond& respond) {
    respond({.content_type = "text/html", .shared_body = kPage});
  });
  HttpClient client = story.Connect();
  for (int i = 0; i < 2; ++i) {
    client.Send(Get("/"));
    EXPECT_THAT(client.ReadResponse(), EndsWith("\r\n\r\n" + kPage));
  }
}

TEST(Connection, EndsWithTheResponseToAnOldClient) {
  const HttpStory story;
  EXPECT_THAT(story.Exchange("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n"), EndsWith("hello"));
  HttpClient client = story.Connect();
  for (int i = 0; i < 2; ++i) {
    client.Send("GET / HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_THAT(client.ReadResponse(), EndsWith("hello"));
  }
}

TEST(Connection, AnswersAClientThatSendsNothingMore) {
  const HttpStory story;
  HttpClient client = story.Connect();
  client.Send(Get("/"));
  client.EndSending();
  EXPECT_THAT(client.ReadAll(), EndsWith("hello"));
}

TEST(Connection, InvitesTheBodyOfAClientThatWaits) {
  const HttpStory story({}, Echo);
  HttpClient client = story.Connect();
  client.Send("POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("body");
  EXPECT_THAT(client.ReadResponse(), EndsWith("POST / body"));
  client.Send("POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 5000\r\n\r\n");
  EXPECT_THAT(client.ReadResponse(), StartsWith("HTTP/1.1 413"));
}

TEST(Connection, ChecksHostAndOrigin) {
  const HttpStory story;
  const auto status = [&](const std::string& headers) {
    return story.Exchange(Get("/", headers + "Connection: close\r\n")).substr(0, 12);
  };
  EXPECT_EQ(status("Host: localhost\r\n"), "HTTP/1.1 200");
  EXPECT_EQ(status("Host: example.org\r\n"), "HTTP/1.1 421");
  EXPECT_EQ(status(""), "HTTP/1.1 400");
  EXPECT_EQ(status("Host:\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("Host: localhost\r\nHost: localhost\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("Host: localhost\r\nHost: example.org\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("Host: localhost:1\r\nOrigin: http://localhost:1\r\n"), "HTTP/1.1 200");
  EXPECT_EQ(status("Host: localhost:1\r\nOrigin: http://localhost:2\r\n"), "HTTP/1.1 403");
  EXPECT_EQ(status("Host: localhost\r\nOrigin: http://example.org\r\n"), "HTTP/1.1 403");
  EXPECT_EQ(status("Host: localhost\r\nOrigin: null\r\n"), "HTTP/1.1 403");
}

TEST(Connection, AcceptsAnyNameIfNamesAreNotChecked) {
  const HttpStory story({.checks_names = false});
  for (const char* headers : {"Host: example.org\r\n", "", "Host: a\r\nOrigin: http://b\r\n"}) {
    EXPECT_THAT(story.Exchange(Get("/", absl::StrCat(headers, "Connection: close\r\n"))), EndsWith("hello")) << headers;
  }
  EXPECT_THAT(story.Exchange(Get("/", "Host: a\r\nHost: a\r\nConnection: close\r\n")), StartsWith("HTTP/1.1 400"));
}

TEST(Connection, GoesOnAfterARefusal) {
  const HttpStory story;
  HttpClient client = story.Connect();
  client.Send(Get("/", "Host: example.org\r\n") + Get("/../etc/passwd") + Get("/"));
  EXPECT_THAT(client.ReadResponse(), StartsWith("HTTP/1.1 421"));
  EXPECT_THAT(client.ReadResponse(), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(client.ReadResponse(), EndsWith("hello"));
}

TEST(Connection, RefusesPathsThatLeadOutOfAFolder) {
  const HttpStory story;
  HttpClient client = story.Connect();
  for (const char* path : {"/../etc/passwd", "/%2e%2e/etc/passwd", "/a/%2E%2e%2fetc", "/..%5c..%5cetc", "//etc/passwd",
                           "/%c0%ae%c0%ae/etc", "/a%00.html"}) {
    client.Send(Get(path));
    EXPECT_THAT(client.ReadResponse(), AllOf(StartsWith("HTTP/1.1 400"), Not(HasSubstr("hello")))) << path;
  }
}

TEST(Connection, EndsAfterUnreadableBytes) {
  const HttpStory story;
  for (const std::string& bytes :
       {std::string("not HTTP\r\n\r\n"), "GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x'),
        std::string("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\n")}) {
    // The response arrives although the server leaves the rest of the request unread.
    HttpClient client = story.Connect();
    client.Send(bytes + std::string(100'000, 'x'));
    const std::string response = client.ReadUntil("}}\n");
    EXPECT_THAT(response, StartsWith("HTTP/1.1 4"));
    EXPECT_THAT(response, HasSubstr("Connection: close\r\n"));
    client.EndSending();
    EXPECT_THAT(client.ReadAll(), IsEmpty());
  }
}

TEST(Connection, NeverSendsALineBreakInAHeader) {
  const HttpStory story({}, [](const Request& request, const Handler::Respond& respond) {
    respond({.headers = {{"Location", *request.target.Find("to") + "\r\nSet-Cookie: a=b"}}, .body = "hello"});
  });
  HttpClient client = story.Connect();
  client.Send(Get("/?to=x") + Get("/?to=x%0d%0aSet-Cookie:%20a=b"));
  EXPECT_THAT(client.ReadResponse(), AllOf(EndsWith("hello"), Not(HasSubstr("Cookie"))));
  EXPECT_THAT(client.ReadResponse(), AllOf(StartsWith("HTTP/1.1 400"), Not(HasSubstr("Cookie"))));
}

TEST(Connection, TakesTheFirstResponseOnly) {
  Handler::Respond late;
  const HttpStory story({}, [&](const Request& request, const Handler::Respond& respond) {
    if (late) late(TextResponse("late"));
    late = respond;
    respond(TextResponse(request.target.path));
    respond(TextResponse("twice"));
  });
  HttpClient client = story.Connect();
  for (const char* path : {"/1", "/2", "/3"}) {
    client.Send(Get(path));
    EXPECT_THAT(client.ReadResponse(), EndsWith(absl::StrCat("\r\n\r\n", path)));
  }
}

TEST(Connection, AnswersForAHandlerThatDoesNot) {
  const HttpStory story({}, [](const Request& /*request*/, const Handler::Respond& /*respond*/) {});
  EXPECT_THAT(story.Exchange(Get("/", "Host: localhost\r\nConnection: close\r\n")), StartsWith("HTTP/1.1 500"));
}

}  // namespace
}  // namespace telemetry::http
