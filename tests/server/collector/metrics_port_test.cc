// Tests the metrics port: authorization, HTTP and HTTPS, and the connection limits.

#include "server/collector/metrics_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <fstream>
#include <list>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/http2/loopback.h"
#include "tests/server/access/test_authority.h"
#include "tests/server/collector/token_folder.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::collector {
namespace {

using access::Role;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// A connection to the port; reads until the server closes it.
class Peer {
 public:
  explicit Peer(const MetricsPort& port) : socket_(http2::ConnectToLoopback(port.port())) {}

  void Send(std::string_view bytes) const { send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  void AwaitBytes() const {
    pollfd poll_fd = {.fd = socket_.fd(), .events = POLLIN};
    poll(&poll_fd, 1, 60'000);
  }
  std::string ReadAll() const {
    std::string all;
    std::string bytes(4096, '\0');
    while (true) {
      pollfd poll_fd = {.fd = socket_.fd(), .events = POLLIN};
      if (poll(&poll_fd, 1, 60'000) != 1) return all + "(and no end)";
      const ssize_t size = recv(socket_.fd(), bytes.data(), bytes.size(), 0);
      if (size <= 0) return all;
      all.append(bytes.data(), static_cast<size_t>(size));
    }
  }
  std::string Get(const std::string& headers = "") const {
    Send(absl::StrCat("GET /metrics HTTP/1.1\r\n", headers, "\r\n"));
    return ReadAll();
  }

 private:
  net::Socket socket_;
};

std::unique_ptr<MetricsPort> Start(MetricsPortOptions options = {}) {
  options.address = "127.0.0.1:0";
  auto port = MetricsPort::Open(options);
  EXPECT_TRUE(port.ok()) << port.status();
  (*port)->Start([] { return "numbers 1\n"; });
  return *std::move(port);
}

TEST(MetricsPort, AnswersByteByByte) {
  const auto port = Start();
  const Peer peer(*port);
  for (const char c : std::string("GET /metrics HTTP/1.1\r\n\r\n")) peer.Send(std::string(1, c));
  EXPECT_THAT(peer.ReadAll(), EndsWith("numbers 1\n"));
}

TEST(MetricsPort, ClosesWhoTakesTooLongOrSaysTooMuch) {
  const auto impatient = Start({.timeout = absl::Milliseconds(50)});
  const Peer silent(*impatient);
  const Peer slow(*impatient);
  slow.Send("GET /met");
  EXPECT_THAT(silent.ReadAll(), IsEmpty());
  EXPECT_THAT(slow.ReadAll(), IsEmpty());

  const auto port = Start();
  const Peer talkative(*port);
  talkative.Send("GET /metrics HTTP/1.1\r\nX: " + std::string(20'000, 'x'));
  // Unread bytes reset the connection, and the response may be lost.
  EXPECT_THAT(talkative.ReadAll(), testing::AnyOf(IsEmpty(), StartsWith("HTTP/1.1 431")));
}

TEST(MetricsPort, ServesAmongSilentConnections) {
  const auto port = Start();
  std::list<Peer> silent;
  for (int i = 0; i < 100; ++i) silent.emplace_back(*port);
  EXPECT_THAT(Peer(*port).Get(), EndsWith("numbers 1\n"));
}

TEST(MetricsPort, RefusesWhatIsBeyondTheLimitOfAnAddress) {
  const auto port = Start();
  std::list<Peer> slow;
  for (uint64_t i = 0; i < MetricsPort::kConnections.per_network; ++i) slow.emplace_back(*port).Send("GET ");
  EXPECT_THAT(Peer(*port).Get(), IsEmpty());
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
  EXPECT_THAT(Peer(*port).Get(), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(Peer(*port).Get("Authorization: Bearer tt_" + std::string(43, 'A') + "\r\n"), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(Peer(*port).Get("Authorization: Bearer " + writer + "\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Peer(*port).Get("Authorization: Bearer " + reader + "\r\n"), EndsWith("numbers 1\n"));
}

// Starts a port with a page that is larger than any socket buffer.
std::unique_ptr<MetricsPort> StartLarge(const access::TlsFiles& tls = {}) {
  auto port = MetricsPort::Open({.address = "127.0.0.1:0", .tls = tls});
  EXPECT_TRUE(port.ok()) << port.status();
  (*port)->Start([] { return std::string(32 << 20, 'x'); });
  return *std::move(port);
}

TEST(MetricsPort, OutlivesAPeerThatGoesAway) {
  const auto port = StartLarge();
  for (int i = 0; i < 3; ++i) {
    const Peer peer(*port);
    peer.Send("GET /metrics HTTP/1.1\r\n\r\n");
    peer.AwaitBytes();
  }
  EXPECT_GT(Peer(*port).Get().size(), 32 << 20);
}

// Returns the response over TLS. `ca`: the file of the authority that the client trusts.
std::string GetOverTls(const MetricsPort& port, const std::string& ca, const std::string& cert = "",
                       const std::string& key = "", size_t most = SIZE_MAX) {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_load_verify_locations(context, ca.c_str(), nullptr);
  if (!cert.empty()) {
    SSL_CTX_use_certificate_file(context, cert.c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM);
  }
  BIO* bio = BIO_new_ssl_connect(context);
  BIO_set_conn_hostname(bio, absl::StrCat("127.0.0.1:", port.port()).c_str());
  std::string answer;
  const std::string request = "GET /metrics HTTP/1.1\r\n\r\n";
  if (BIO_write(bio, request.data(), static_cast<int>(request.size())) > 0) {
    std::string bytes(4096, '\0');
    for (int size = 1; size > 0 && answer.size() < most;) {
      size = BIO_read(bio, bytes.data(), static_cast<int>(bytes.size()));
      if (size > 0) answer.append(bytes.data(), static_cast<size_t>(size));
    }
  }
  BIO_free_all(bio);
  SSL_CTX_free(context);
  return answer;
}

class MetricsPortTlsTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& content) {
    std::ofstream(folder_.File(name), std::ios::trunc) << content;
  }
  void Install(const std::string& name, const access::Identity& identity) {
    Write(name + ".pem", identity.certificate);
    Write(name + ".key", identity.key);
  }
  access::TlsFiles Files(const std::string& client_ca = "") const {
    return {.cert = folder_.File("server.pem"), .key = folder_.File("server.key"), .client_ca = client_ca};
  }

  TempFolder folder_;
  access::TestAuthority authority_{"authority"};
};

TEST_F(MetricsPortTlsTest, ServesOverTlsAlone) {
  Install("server", authority_.Issue("localhost"));
  Write("ca.pem", authority_.certificate());
  const auto port = Start({.tls = Files()});
  EXPECT_THAT(GetOverTls(*port, folder_.File("ca.pem")), EndsWith("numbers 1\n"));
  EXPECT_THAT(Peer(*port).Get(), testing::Not(HasSubstr("numbers")));

  // The next connection uses the new certificate.
  access::TestAuthority other("other");
  Install("server", other.Issue("localhost"));
  Write("other.pem", other.certificate());
  EXPECT_THAT(GetOverTls(*port, folder_.File("ca.pem")), IsEmpty());
  EXPECT_THAT(GetOverTls(*port, folder_.File("other.pem")), EndsWith("numbers 1\n"));
}

TEST_F(MetricsPortTlsTest, AsksForACertificateWhereTheOtherPortDoes) {
  Install("server", authority_.Issue("localhost"));
  Install("client", authority_.Issue("prometheus"));
  Write("ca.pem", authority_.certificate());
  const std::string ca = folder_.File("ca.pem");
  const auto port = Start({.tls = Files(ca)});
  EXPECT_THAT(GetOverTls(*port, ca), IsEmpty());
  EXPECT_THAT(GetOverTls(*port, ca, folder_.File("client.pem"), folder_.File("client.key")), EndsWith("numbers 1\n"));
}

TEST_F(MetricsPortTlsTest, OutlivesAPeerThatGoesAway) {
  Install("server", authority_.Issue("localhost"));
  Write("ca.pem", authority_.certificate());
  const auto port = StartLarge(Files());
  for (int i = 0; i < 3; ++i) GetOverTls(*port, folder_.File("ca.pem"), "", "", 1);
  EXPECT_GT(GetOverTls(*port, folder_.File("ca.pem")).size(), 32 << 20);
}

TEST_F(MetricsPortTlsTest, NamesAFileThatDoesNotFit) {
  const auto port = MetricsPort::Open({.address = "127.0.0.1:0", .tls = Files()});
  EXPECT_TRUE(absl::IsInvalidArgument(port.status())) << port.status();
}

}  // namespace
}  // namespace telemetry::collector
