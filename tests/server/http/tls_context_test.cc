// Tests servers with TLS, and TLS files that change.

#include "server/http/tls_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/access/log_capture.h"
#include "tests/server/http/http_story.h"
#include "tests/server/http/test_stream.h"
#include "tests/server/http/tls_folder.h"

namespace telemetry::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const char kClose[] = "Host: localhost\r\nConnection: close\r\n";

class TlsContextTest : public ::testing::Test {
 protected:
  TlsContextTest() { folder_.Install("server", folder_.authority().Issue("localhost")); }

  std::string Exchange(const HttpStory& story, const std::string& request = Get("/", kClose)) const {
    return ExchangeOverTls(story.port(), folder_.Client(), request);
  }

  TlsFolder folder_;
};

TEST_F(TlsContextTest, ServesOverTlsOnly) {
  const HttpStory story({.tls = folder_.Server()}, [](const Request& request, const Handler::Respond& respond) {
    respond(TextResponse(request.is_secure ? "secure" : "not secure"));
  });
  const std::string responses = Exchange(story, Get("/") + Get("/", kClose));
  EXPECT_THAT(responses, AllOf(HasSubstr("\r\n\r\nsecureHTTP/1.1 200"), EndsWith("\r\n\r\nsecure")));
  EXPECT_THAT(story.Exchange(Get("/", kClose)), Not(HasSubstr("secure")));
}

TEST_F(TlsContextTest, ChecksTheOriginWithItsScheme) {
  const HttpStory story({.tls = folder_.Server()});
  EXPECT_THAT(Exchange(story, Get("/", absl::StrCat("Origin: https://localhost\r\n", kClose))), EndsWith("hello"));
  EXPECT_THAT(Exchange(story, Get("/", absl::StrCat("Origin: http://localhost\r\n", kClose))),
              StartsWith("HTTP/1.1 403"));
}

TEST_F(TlsContextTest, UsesRenewedFilesForTheNextConnection) {
  const HttpStory story({.tls = folder_.Server()});
  EXPECT_THAT(Exchange(story), EndsWith("hello"));
  const access::TestAuthority other("other");
  folder_.Install("server", other.Issue("localhost"));
  EXPECT_THAT(Exchange(story), IsEmpty());
  folder_.Write("ca.pem", other.certificate());
  EXPECT_THAT(Exchange(story), EndsWith("hello"));
}

TEST_F(TlsContextTest, KeepsTheLastFilesWhileTheNewOnesAreUnusable) {
  const access::LogCapture log;
  const HttpStory story({.tls = folder_.Server()});
  EXPECT_THAT(Exchange(story), EndsWith("hello"));
  folder_.Write("server.pem", "not a certificate");
  EXPECT_THAT(Exchange(story), EndsWith("hello"));
  EXPECT_EQ(log.Count("cannot use the new TLS files"), 1) << log.text();
  folder_.Install("server", folder_.authority().Issue("localhost"));
  EXPECT_THAT(Exchange(story), EndsWith("hello"));
}

TEST_F(TlsContextTest, IsTheSameUntilTheFilesChange) {
  folder_.Install("server", folder_.authority().Issue("localhost"));
  TlsContext context(folder_.Server());
  const access::SslContext first = *context.Get();
  // While the files are new, their times may hide a change.
  while (*context.Get() != *context.Get()) continue;
  const access::SslContext settled = *context.Get();
  EXPECT_EQ(*context.Get(), settled);
  folder_.Install("server", folder_.authority().Issue("localhost"));
  EXPECT_NE(*context.Get(), settled);
}

TEST_F(TlsContextTest, AsksForAClientCertificate) {
  folder_.Install("client", folder_.authority().Issue("client"));
  const HttpStory story({.tls = folder_.Server(folder_.File("ca.pem"))});
  EXPECT_THAT(Exchange(story), IsEmpty());
  TlsClientFiles files = folder_.Client();
  files.cert = folder_.File("client.pem");
  files.key = folder_.File("client.key");
  EXPECT_THAT(ExchangeOverTls(story.port(), files, Get("/", kClose)), EndsWith("hello"));
}

TEST_F(TlsContextTest, EndsHandshakesThatTakeTooLong) {
  const HttpStory story({.tls = folder_.Server(), .limits = {.request_timeout = absl::Milliseconds(50)}});
  EXPECT_THAT(story.Exchange("\x16\x03\x01"), IsEmpty());
}

TEST_F(TlsContextTest, OutlivesClientsThatGoAway) {
  constexpr size_t kLargeBytes = size_t{32} << 20;
  const HttpStory story({.tls = folder_.Server()}, [](const Request& /*request*/, const Handler::Respond& respond) {
    respond(TextResponse(std::string(kLargeBytes, 'x')));
  });
  for (int i = 0; i < 3; ++i) ExchangeOverTls(story.port(), folder_.Client(), Get("/"), 1);
  std::string response;
  while (!response.starts_with("HTTP/1.1 200")) response = Exchange(story);
  EXPECT_GT(response.size(), kLargeBytes);
}

TEST_F(TlsContextTest, SendsStreams) {
  const auto stream = std::make_shared<TestStream>();
  const HttpStory story({.tls = folder_.Server()}, [&](const Request& /*request*/, const Handler::Respond& respond) {
    respond({.stream = stream});
    stream->Add("text", /*is_last=*/true);
  });
  EXPECT_THAT(Exchange(story), EndsWith("\r\n\r\n4\r\ntext\r\n0\r\n\r\n"));
}

TEST_F(TlsContextTest, RefusesToStartWithoutFiles) {
  const auto server = HttpServer::Open({.address = "127.0.0.1:0", .tls = {.cert = folder_.File("none.pem")}});
  EXPECT_TRUE(absl::IsInvalidArgument(server.status())) << server.status();
}

}  // namespace
}  // namespace telemetry::http
