#include "proto/access/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

#include "proto/access/bearer_token.h"
#include "tests/temp_folder.h"

namespace telemetry::access {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CredentialsTest : public ::testing::Test {
 protected:
  std::string File(const std::string& name, const std::string& content) {
    std::ofstream(folder_.File(name)) << content;
    return folder_.File(name);
  }
  void ExpectRefused(const Credentials& credentials, const std::string& words,
                     const std::string& address = "127.0.0.1:1") {
    const absl::Status status = Connection::Prepare(credentials, address).status();
    EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(words));
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr(token_.substr(10))));
  }

  TempFolder folder_;
  const std::string token_ = *MakeToken();
  const std::string pem_ = File("ca.pem", "-----BEGIN CERTIFICATE-----\n");
};

TEST(BearerToken, IsNewEachTime) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) {
    const std::string token = *MakeToken();
    EXPECT_TRUE(IsToken(token)) << token.size();
    tokens.insert(token);
  }
  EXPECT_EQ(tokens.size(), 100u);
}

TEST(BearerToken, HasAFormOfItsOwn) {
  const std::string token = *MakeToken();
  for (const std::string& text : {std::string(), token.substr(1), token + "x", "xx_" + token.substr(3),
                                  token.substr(0, 45) + "=", token.substr(0, 45) + "\n"}) {
    EXPECT_FALSE(IsToken(text));
  }
}

TEST_F(CredentialsTest, NothingIsEnoughForPlaintext) { EXPECT_TRUE(Connection::Prepare({}, "collector:4747").ok()); }

TEST_F(CredentialsTest, TheAddressIsLookedAt) {
  EXPECT_TRUE(absl::IsInvalidArgument(Connection::Prepare({}, "127.0.0.1").status()));
}

TEST_F(CredentialsTest, AProgramFindsMistakesOfItsCommandLine) {
  EXPECT_TRUE(Connection::Check({}, "127.0.0.1:4747").ok());
  EXPECT_TRUE(absl::IsInvalidArgument(Connection::Check({}, "127.0.0.1")));
  const absl::Status status = Connection::Check({.token_file = folder_.File("missing")}, "127.0.0.1:4747");
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(status.ToString(), HasSubstr("missing"));
}

TEST_F(CredentialsTest, WhoCannotConnectIsToldWhatToDo) {
  const auto told = [this](const Credentials& credentials, const std::string& message) {
    const grpc::Status status(grpc::StatusCode::UNAVAILABLE,
                              "failed to connect to all addresses; last error: " + message);
    return Connection::Prepare(credentials, "127.0.0.1:1")->CallStatus(status).ToString();
  };
  EXPECT_THAT(told({}, "Socket closed"), HasSubstr("give --tls-ca if it serves TLS"));
  EXPECT_THAT(told({.tls_ca = pem_}, "Socket closed"), Not(HasSubstr("--tls-ca")));
  EXPECT_THAT(told({.tls_ca = pem_}, "SSL routines::wrong version number"), HasSubstr("does not speak TLS"));
  EXPECT_THAT(told({.tls_ca = pem_}, "SSL routines::certificate verify failed"), HasSubstr("--tls-ca"));
  EXPECT_THAT(told({}, "Failed parsing HTTP/2"), HasSubstr("does not speak gRPC"));
  EXPECT_THAT(told({}, "Connection refused"), Not(HasSubstr("; it")));
}

TEST_F(CredentialsTest, ATokenStaysOnTheMachineWithoutTls) {
  EXPECT_TRUE(Connection::Prepare({.token = token_}, "127.0.0.1:4747").ok());
  EXPECT_TRUE(Connection::Prepare({.tls_ca = pem_, .token = token_}, "collector:4747").ok());
  ExpectRefused({.token = token_}, "--tls-ca", "collector:4747");
  ExpectRefused({.token_file = File("token", token_)}, "--tls-ca", "10.0.0.1:4747");
}

TEST_F(CredentialsTest, ATokenFileHoldsOneToken) {
  EXPECT_TRUE(Connection::Prepare({.token_file = File("token", token_ + "\n")}, "127.0.0.1:1").ok());
  ExpectRefused({.token_file = folder_.File("missing")}, "missing");
  ExpectRefused({.token_file = File("empty", "")}, "empty");
  ExpectRefused({.token_file = File("short", token_.substr(0, 20))}, "short");
  ExpectRefused({.token_file = File("two", token_ + "\n" + token_ + "\n")}, "two");
  ExpectRefused({.token = token_ + "x"}, "TELEMETRY_TOKEN");
}

TEST_F(CredentialsTest, TheFilesOfTlsBelongTogether) {
  EXPECT_TRUE(Connection::Prepare({.tls_ca = pem_, .tls_cert = pem_, .tls_key = pem_}, "collector:4747").ok());
  ExpectRefused({.tls_ca = pem_, .tls_cert = pem_}, "--tls-key");
  ExpectRefused({.tls_ca = pem_, .tls_key = pem_}, "--tls-cert");
  ExpectRefused({.tls_cert = pem_, .tls_key = pem_}, "--tls-ca");
  ExpectRefused({.tls_ca = folder_.File("missing")}, "missing");
  ExpectRefused({.tls_ca = File("text", "hello")}, "not a PEM file");
}

TEST_F(CredentialsTest, TheEnvironmentsTokenIsTakenOutOfIt) {
  ::setenv("TELEMETRY_TOKEN", token_.c_str(), 1);
  EXPECT_EQ(TakeTokenFromEnvironment(), token_);
  EXPECT_EQ(std::getenv("TELEMETRY_TOKEN"), nullptr);
  EXPECT_EQ(TakeTokenFromEnvironment(), token_);
}

}  // namespace
}  // namespace telemetry::access
