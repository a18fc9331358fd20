#include "server/access/authorizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "server/access/token_file.h"

namespace telemetry::access {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRead[] = "/telemetry.v1.DatasetService/Export";
constexpr char kWrite[] = "/telemetry.v1.IngestService/Stream";
constexpr char kDelete[] = "/telemetry.v1.DeletionService/Delete";

class AuthorizerTest : public ::testing::Test {
 protected:
  // Adds a token and returns its text.
  std::string Add(Token token) {
    token.created = now_;
    const absl::StatusOr<NewToken> added = MakeNewToken(std::move(token));
    tokens_.push_back(added->token);
    return added->text;
  }
  absl::StatusCode AuthorizeCode(std::string_view method, const std::vector<std::string>& authorization) {
    const TokenSet set(tokens_);
    const absl::Status status = Authorize(set, method, {authorization.begin(), authorization.end()}, now_).status();
    for (const std::string& value : authorization) {
      if (value.size() < 20) continue;
      EXPECT_THAT(std::string(status.message()), Not(HasSubstr(value.substr(10))));
    }
    return status.code();
  }
  bool MaySpeakFor(const std::string& text, char producer) {
    const TokenSet set(tokens_);
    const absl::Status status = AuthorizeProducer(set, *set.FindText(text), std::string(16, producer));
    EXPECT_TRUE(status.ok() || absl::IsPermissionDenied(status)) << status;
    return status.ok();
  }

  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  std::vector<Token> tokens_;
};

TEST_F(AuthorizerTest, RolesAllowWhatTheySay) {
  const std::string reader = "Bearer " + Add({.roles = {Role::kReader}});
  const std::string writer = "Bearer " + Add({.roles = {Role::kWriter}});
  const std::string both = "Bearer " + Add({.roles = {Role::kReader, Role::kWriter}});
  const std::string deleter = "Bearer " + Add({.roles = {Role::kDeleter}});
  const std::string admin = "Bearer " + Add({.roles = {Role::kAdmin}});
  EXPECT_EQ(AuthorizeCode(kDelete, {deleter}), absl::StatusCode::kOk);
  EXPECT_EQ(AuthorizeCode(kDelete, {admin}), absl::StatusCode::kOk);
  EXPECT_EQ(AuthorizeCode(kDelete, {both}), absl::StatusCode::kPermissionDenied);
  for (const char* method : {kRead, kWrite}) {
    EXPECT_EQ(AuthorizeCode(method, {deleter}), absl::StatusCode::kPermissionDenied);
  }
  EXPECT_EQ(AuthorizeCode(kRead, {reader}), absl::StatusCode::kOk);
  EXPECT_EQ(AuthorizeCode(kWrite, {reader}), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(AuthorizeCode(kRead, {writer}), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(AuthorizeCode(kWrite, {writer}), absl::StatusCode::kOk);
  for (const char* method : {kRead, kWrite}) {
    EXPECT_EQ(AuthorizeCode(method, {both}), absl::StatusCode::kOk);
    EXPECT_EQ(AuthorizeCode(method, {admin}), absl::StatusCode::kOk);
  }
}

TEST_F(AuthorizerTest, WhatIsNoValidTokenIsNone) {
  const std::string good = Add({.roles = {Role::kAdmin}});
  const std::string revoked = Add({.roles = {Role::kAdmin}, .revoked = now_ - absl::Seconds(1)});
  const std::string expired = Add({.roles = {Role::kAdmin}, .expires = now_});
  std::string other_case = good;
  for (char& c : other_case) c = absl::ascii_isupper(c) ? absl::ascii_tolower(c) : absl::ascii_toupper(c);
  for (const std::vector<std::string>& authorization :
       std::vector<std::vector<std::string>>{{},
                                             {""},
                                             {good},
                                             {"Basic " + good},
                                             {"Bearer"},
                                             {"Bearer "},
                                             {"Bearer  " + good},
                                             {"Bearer " + good + " "},
                                             {"Bearer " + good.substr(0, good.size() - 1)},
                                             {"Bearer " + good + "x"},
                                             {"Bearer " + other_case},
                                             {"Bearer " + tokens_[0].sha256},
                                             {"Bearer " + tokens_[0].id},
                                             {"Bearer " + good, "Bearer " + good},
                                             {"Bearer " + revoked},
                                             {"Bearer " + expired}}) {
    EXPECT_EQ(AuthorizeCode(kRead, authorization), absl::StatusCode::kUnauthenticated)
        << (authorization.empty() ? "none" : authorization.front().substr(0, 7));
    EXPECT_EQ(AuthorizeCode("/grpc.health.v1.Health/Check", authorization), absl::StatusCode::kOk);
  }
  EXPECT_EQ(AuthorizeCode(kRead, {"bearer " + good}), absl::StatusCode::kOk);
}

TEST_F(AuthorizerTest, WhatStandsInNoListIsForNobody) {
  const std::string admin = "Bearer " + Add({.roles = {Role::kAdmin}});
  for (const char* method :
       {"/telemetry.v1.DatasetService/DropEverything", "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        "", "/telemetry.v1.DatasetService/Export/", "telemetry.v1.DatasetService/Export"}) {
    EXPECT_EQ(AuthorizeCode(method, {admin}), absl::StatusCode::kPermissionDenied) << method;
  }
}

TEST_F(AuthorizerTest, AProducerBelongsToTheNameThatIsBoundToIt) {
  const std::string bound = Add({.name = "a", .roles = {Role::kWriter}, .producers = {std::string(32, '6')}});
  const std::string renewed = Add({.name = "a", .roles = {Role::kWriter}});
  const std::string other = Add({.name = "b", .roles = {Role::kWriter}});
  const std::string admin = Add({.name = "c", .roles = {Role::kAdmin}});
  EXPECT_TRUE(MaySpeakFor(bound, 'f'));  // 0x66
  EXPECT_FALSE(MaySpeakFor(bound, 'g'));
  EXPECT_TRUE(MaySpeakFor(renewed, 'f'));
  EXPECT_FALSE(MaySpeakFor(other, 'f'));
  EXPECT_FALSE(MaySpeakFor(admin, 'f'));
  EXPECT_TRUE(MaySpeakFor(other, 'g'));
  tokens_[0].revoked = now_;
  EXPECT_FALSE(MaySpeakFor(other, 'f'));
}

}  // namespace
}  // namespace telemetry::access
