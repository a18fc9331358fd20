// Tests a collector with TLS: which clients can connect, and how its certificates are renewed.

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/access/credentials.h"
#include "tests/server/access/log_capture.h"
#include "tests/server/access/test_authority.h"
#include "tests/server/collector/any_call.h"
#include "tests/server/collector/collector_story.h"
#include "tests/server/collector/token_folder.h"

namespace telemetry::collector {
namespace {

using access::Identity;
using access::Role;
using access::TestAuthority;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kListRuns[] = "/telemetry.v1.DatasetService/ListRuns";

class TlsTest : public ::testing::Test {
 protected:
  TlsTest() {
    Install("server", own_.Issue("localhost"));
    Install("client", own_.Issue("runner-17"));
    Write("ca.pem", own_.certificate());
    token_ = tokens_.Add({.name = "admin", .roles = {Role::kAdmin}});
  }

  std::string File(const std::string& name) const { return folder_.File(name); }
  // Replaces a file atomically, as an administrator should.
  void Write(const std::string& name, const std::string& content) {
    std::ofstream(File(name + ".next")) << content;
    std::filesystem::rename(File(name + ".next"), File(name));
  }
  void Install(const std::string& name, const Identity& identity) {
    Write(name + ".key", identity.key);
    Write(name + ".pem", identity.certificate);
  }
  ServerOptions Options(bool mutual) {
    return {.listen = "127.0.0.1:0",
            .tls = {.cert = File("server.pem"),
                    .key = File("server.key"),
                    .client_ca = mutual ? File("ca.pem") : std::string()},
            .tokens = tokens_.path()};
  }
  access::Credentials Client() {
    return {.tls_ca = File("ca.pem"), .tls_cert = File("client.pem"), .tls_key = File("client.key"), .token = token_};
  }
  // Returns the status of a unary call with these credentials over a new connection.
  grpc::Status Ask(const std::string& address, const access::Credentials& credentials) {
    const absl::StatusOr<access::Connection> connection = access::Connection::Prepare(credentials, address);
    if (!connection.ok()) return {grpc::StatusCode::INTERNAL, std::string(connection.status().message())};
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto channel = grpc::CreateCustomChannel(address, connection->channel_credentials(), arguments);
    const std::vector<std::string> authorization = credentials.token.empty()
                                                       ? std::vector<std::string>()
                                                       : std::vector<std::string>{"Bearer " + credentials.token};
    return CallAnything(channel, kListRuns, "", authorization).status;
  }
  static std::string CollectorAddress(CollectorStory& story) {
    return absl::StrCat("127.0.0.1:", story.server().port());
  }
  void ExpectKeptOut(CollectorStory& story, const access::Credentials& credentials, const char* what) {
    const grpc::Status status = Ask(CollectorAddress(story), credentials);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << what << ": " << status.error_message();
    EXPECT_THAT(status.error_message(), Not(HasSubstr(token_.substr(3))));
  }
  // Blocks until connections with these credentials succeed, or fail if `succeed` is false.
  bool Await(CollectorStory& story, const access::Credentials& credentials, bool succeed) {
    const absl::Time deadline = absl::Now() + absl::Seconds(60);
    while (absl::Now() < deadline) {
      if (Ask(CollectorAddress(story), credentials).ok() == succeed) return true;
    }
    return false;
  }

  TempFolder folder_;
  TokenFolder tokens_;
  std::string token_;
  TestAuthority own_{"own authority"};
  TestAuthority other_{"own authority"};  // another authority of the same name
};

TEST_F(TlsTest, OnlyWhoShowsWhatIsAskedForGetsThrough) {
  const access::LogCapture log;
  Install("foreign", other_.Issue("runner-17"));
  Install("expired", own_.Issue("runner-17", absl::Seconds(-60)));
  Write("other-ca.pem", other_.certificate());
  CollectorStory story(Options(/*mutual=*/true));
  EXPECT_TRUE(Ask(CollectorAddress(story), Client()).ok());

  access::Credentials client = Client();
  client.tls_cert = client.tls_key = "";
  ExpectKeptOut(story, client, "no certificate");
  client = Client();
  client.tls_cert = File("foreign.pem");
  client.tls_key = File("foreign.key");
  ExpectKeptOut(story, client, "a certificate of another authority");
  client.tls_cert = File("expired.pem");
  client.tls_key = File("expired.key");
  ExpectKeptOut(story, client, "an expired certificate");
  client = Client();
  client.tls_ca = File("other-ca.pem");
  ExpectKeptOut(story, client, "a client that trusts another authority");
  ExpectKeptOut(story, {.token = token_}, "plaintext");
  ExpectKeptOut(story, {}, "plaintext without a token");

  // The certificate authenticates the machine; it grants no access without a token.
  client = Client();
  client.token = "";
  EXPECT_EQ(Ask(CollectorAddress(story), client).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_THAT(log.text(), HasSubstr("certificate="));
  EXPECT_THAT(log.text(), HasSubstr("runner-17"));
  EXPECT_THAT(log.text(), Not(HasSubstr(token_.substr(3))));
}

TEST_F(TlsTest, WithoutClientAuthorityTheTokenIsEnough) {
  CollectorStory story(Options(/*mutual=*/false));
  EXPECT_TRUE(Ask(CollectorAddress(story), {.tls_ca = File("ca.pem"), .token = token_}).ok());
  EXPECT_EQ(Ask(CollectorAddress(story), {.tls_ca = File("ca.pem")}).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  ExpectKeptOut(story, {.token = token_}, "plaintext");
}

TEST_F(TlsTest, AClientThatWantsTlsDoesNotFallBackToPlaintext) {
  CollectorStory story(ServerOptions{.listen = "127.0.0.1:0", .tokens = tokens_.path()});
  EXPECT_TRUE(Ask(CollectorAddress(story), {.token = token_}).ok());
  ExpectKeptOut(story, {.tls_ca = File("ca.pem"), .token = token_}, "TLS to a plaintext port");
}

TEST_F(TlsTest, AnOldProtocolIsRefused) {
  CollectorStory story(Options(/*mutual=*/false));
  const auto connects = [&story](int version) {
    SSL_CTX* context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_security_level(context, 0);
    SSL_CTX_set_min_proto_version(context, version);
    SSL_CTX_set_max_proto_version(context, version);
    BIO* bio = BIO_new_ssl_connect(context);
    BIO_set_conn_hostname(bio, CollectorAddress(story).c_str());
    const bool connected = BIO_do_handshake(bio) == 1;
    BIO_free_all(bio);
    SSL_CTX_free(context);
    return connected;
  };
  EXPECT_TRUE(connects(TLS1_2_VERSION));
  EXPECT_TRUE(connects(TLS1_3_VERSION));
  EXPECT_FALSE(connects(TLS1_1_VERSION));
  EXPECT_FALSE(connects(TLS1_VERSION));
}

TEST_F(TlsTest, CertificatesAreRenewedWhileItServes) {
  CollectorStory story(Options(/*mutual=*/true));
  const absl::StatusOr<access::Connection> connection = access::Connection::Prepare(Client(), CollectorAddress(story));
  TestStream stream(grpc::CreateChannel(CollectorAddress(story), connection->channel_credentials()), token_);
  ASSERT_TRUE(stream.Open('p'));

  Install("server", other_.Issue("localhost"));
  Write("other-ca.pem", other_.certificate());
  access::Credentials trusting_the_new = Client();
  trusting_the_new.tls_ca = File("other-ca.pem");
  EXPECT_TRUE(Await(story, trusting_the_new, true));
  EXPECT_FALSE(Ask(CollectorAddress(story), Client()).ok());

  // The authority of the client certificates can be renewed as well.
  Write("ca.pem", other_.certificate());
  EXPECT_TRUE(Await(story, trusting_the_new, false));
  Install("client", other_.Issue("runner-18"));
  EXPECT_TRUE(Await(story, Client(), true));

  stream.Send(MakeBatch(1, {storage::RunRecord('a')}));
  EXPECT_TRUE(stream.AwaitAck(1));
}

TEST_F(TlsTest, FilesThatDoNotFitAreNamedAtTheStart) {
  Write("text", "hello");
  Install("old", own_.Issue("localhost", absl::Seconds(-60)));
  const std::string cert = File("server.pem");
  const std::string key = File("server.key");
  for (const auto& [tls, words] : std::vector<std::pair<access::TlsFiles, std::string>>{
           {{File("missing"), key, ""}, "--tls-cert " + File("missing") + ": cannot be read"},
           {{File("text"), key, ""}, "no certificate"},
           {{cert, File("missing"), ""}, "--tls-key " + File("missing") + ": cannot be read"},
           {{cert, File("text"), ""}, "no private key"},
           {{cert, File("client.key"), ""}, "is not the key of the certificate"},
           {{cert, key, File("text")}, "--tls-client-ca"},
           {{File("old.pem"), File("old.key"), ""}, "expired"}}) {
    const absl::Status status = access::MakeServerCredentials(tls).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(words));
  }
}

}  // namespace
}  // namespace telemetry::collector
