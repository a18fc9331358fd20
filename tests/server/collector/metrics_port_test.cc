// Tests the metrics port: authorization, HTTP and HTTPS, and the connection limits.

#include "server/collector/metrics_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>
#include <string>

#include "tests/server/collector/token_folder.h"
#include "tests/server/http/http_client.h"
#include "tests/server/http/http_story.h"
#include "tests/server/http/tls_folder.h"

namespace telemetry::collector {
namespace {

using access::Role;
using http::Get;
using http::HttpClient;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Returns the response to a request with these further headers.
std::string GetMetrics(const MetricsPort& port, const std::string& headers = "") {
  HttpClient client(port.port());
  client.Send(Get("/metrics", headers));
  return client.ReadAll();
}

std::unique_ptr<MetricsPort> Start(MetricsPortOptions options = {}) {
  options.address = "127.0.0.1:0";
  auto port = MetricsPort::Open(options);
  EXPECT_TRUE(port.ok()) << port.status();
  (*port)->Start([] { return "numbers 1\n"; });
  return *std::move(port);
}

TEST(MetricsPort, IsOnePage) {
  const auto port = Start();
  const auto answer = [&](std::string_view request) {
    HttpClient client(port->port());
    client.Send(request);
    return client.ReadAll();
  };
  const std::string page = answer("GET /metrics HTTP/1.1\r\nHost: any.example.org\r\n\r\n");
  EXPECT_THAT(page, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(page, AllOf(HasSubstr("\r\nContent-Length: 10\r\n"), EndsWith("\r\n\r\nnumbers 1\n")));
  EXPECT_THAT(answer("GET /metrics?name=x HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer("HEAD /metrics HTTP/1.1\r\n\r\n"),
              AllOf(HasSubstr("Content-Length: 10\r\n"), EndsWith("\r\n\r\n")));
  EXPECT_THAT(answer("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(answer("GET /metrics/ HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(answer("POST /metrics HTTP/1.1\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 405"), HasSubstr("\r\nAllow: GET, HEAD\r\n")));
  EXPECT_THAT(answer("GET /metrics\r\n\r\n"), StartsWith("HTTP/1.1 400"));
}

TEST(MetricsPort, AnswersByteByByte) {
  const auto port = Start();
  HttpClient client(port->port());
  for (const char c : Get("/metrics")) client.Send(std::string(1, c));
  EXPECT_THAT(client.ReadAll(), EndsWith("numbers 1\n"));
}

TEST(MetricsPort, ClosesWhoTakesTooLongOrSaysTooMuch) {
  const auto impatient = Start({.timeout = absl::Milliseconds(50)});
  HttpClient silent(impatient->port());
  HttpClient slow(impatient->port());
  slow.Send("GET /met");
  EXPECT_THAT(silent.ReadAll(), IsEmpty());
  EXPECT_THAT(slow.ReadAll(), IsEmpty());

  const auto port = Start();
  HttpClient talkative(port->port());
  talkative.Send("GET /metrics HTTP/1.1\r\nX: " + std::string(20'000, 'x'));
  EXPECT_THAT(talkative.ReadAll(), StartsWith("HTTP/1.1 431"));
}

TEST(MetricsPort, ServesAmongSilentConnections) {
  const auto port = Start();
  std::list<HttpClient> silent;
  for (int i = 0; i < 100; ++i) silent.emplace_back(port->port());
  EXPECT_THAT(GetMetrics(*port), EndsWith("numbers 1\n"));
}

TEST(MetricsPort, RefusesWhatIsBeyondTheLimitOfAnAddress) {
  const auto port = Start();
  std::list<HttpClient> slow;
  for (uint64_t i = 0; i < MetricsPort::kConnections.per_network; ++i) slow.emplace_back(port->port()).Send("GET ");
  EXPECT_THAT(GetMetrics(*port), IsEmpty());
  slow.front().Send("/metrics HTTP/1.1\r\n\r\n");
  EXPECT_THAT(slow.front().ReadAll(), EndsWith("numbers 1\n"));
}

TEST(MetricsPort, AsksForATokenOfAReader) {
  TokenFolder folder;
  const std::string reader = folder.Add({.name = "prometheus", .roles = {Role::kReader}});
  const std::string writer = folder.Add({.name = "ci", .roles = {Role::kWriter}});
  const auto tokens = access::TokenWatch::Open(folder.path());
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  const auto port = Start({.tokens = tokens->get()});
  EXPECT_THAT(GetMetrics(*port), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(GetMetrics(*port, "Authorization: Bearer tt_" + std::string(43, 'A') + "\r\n"),
              StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(GetMetrics(*port, "Authorization: Bearer " + writer + "\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(GetMetrics(*port, "Authorization: Bearer " + reader + "\r\n"), EndsWith("numbers 1\n"));
}

TEST(MetricsPort, RefusesTwoTokens) {
  TokenFolder folder;
  const std::string reader = folder.Add({.name = "prometheus", .roles = {Role::kReader}});
  const auto tokens = access::TokenWatch::Open(folder.path());
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  const auto port = Start({.tokens = tokens->get()});
  const std::string header = "Authorization: Bearer " + reader + "\r\n";
  EXPECT_THAT(GetMetrics(*port, header + header), StartsWith("HTTP/1.1 400"));
}

class MetricsPortTlsTest : public ::testing::Test {
 protected:
  MetricsPortTlsTest() { folder_.Install("server", folder_.authority().Issue("localhost")); }

  std::string GetOverTls(const MetricsPort& port) const {
    return http::ExchangeOverTls(port.port(), folder_.Client(), Get("/metrics"));
  }

  http::TlsFolder folder_;
};

TEST_F(MetricsPortTlsTest, ServesOverTlsAlone) {
  const auto port = Start({.tls = folder_.Server()});
  EXPECT_THAT(GetOverTls(*port), EndsWith("numbers 1\n"));
  EXPECT_THAT(GetMetrics(*port), testing::Not(HasSubstr("numbers")));

  // The next connection uses the new certificate.
  const access::TestAuthority other("other");
  folder_.Install("server", other.Issue("localhost"));
  EXPECT_THAT(GetOverTls(*port), IsEmpty());
  folder_.Write("ca.pem", other.certificate());
  EXPECT_THAT(GetOverTls(*port), EndsWith("numbers 1\n"));
}

TEST_F(MetricsPortTlsTest, AsksForACertificateWhereTheOtherPortDoes) {
  folder_.Install("client", folder_.authority().Issue("prometheus"));
  const auto port = Start({.tls = folder_.Server(folder_.File("ca.pem"))});
  EXPECT_THAT(GetOverTls(*port), IsEmpty());
  const http::TlsClientFiles files = {
      .ca = folder_.File("ca.pem"), .cert = folder_.File("client.pem"), .key = folder_.File("client.key")};
  EXPECT_THAT(http::ExchangeOverTls(port->port(), files, Get("/metrics")), EndsWith("numbers 1\n"));
}

TEST_F(MetricsPortTlsTest, NamesAFileThatDoesNotFit) {
  const auto port = MetricsPort::Open({.address = "127.0.0.1:0", .tls = {.cert = folder_.File("none.pem")}});
  EXPECT_TRUE(absl::IsInvalidArgument(port.status())) << port.status();
}

}  // namespace
}  // namespace telemetry::collector
