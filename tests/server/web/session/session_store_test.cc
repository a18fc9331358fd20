#include "server/web/session/session_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/server/collector/token_folder.h"

namespace telemetry::web::session {
namespace {

using collector::TokenFolder;

// A store over a token file, with a clock that the test moves.
class SessionStory {
 public:
  SessionStory() { reader_ = Add({.name = "dashboards", .roles = {access::Role::kReader}}); }

  std::string Add(access::Token token) {
    std::string text = folder_.Add(std::move(token));
    Look();
    return text;
  }
  void Revoke(const std::string& name) {
    folder_.Revoke(name);
    Look();
  }
  absl::StatusOr<SessionStore::SignedIn> SignIn(const std::string& token, const std::string& network = "here") {
    return store().SignIn(token, network);
  }
  std::string Cookie(const std::string& token) {
    const absl::StatusOr<SessionStore::SignedIn> signed_in = SignIn(token);
    EXPECT_TRUE(signed_in.ok()) << signed_in.status();
    return signed_in.ok() ? signed_in->cookie : "";
  }
  absl::Status Admit(const std::string& cookie) { return store().Admit({.cookie = cookie}).status(); }
  SessionStore& store() { return *store_; }
  const std::string& reader() const { return reader_; }

  absl::Time now = absl::Now();

 private:
  void Look() {
    if (watch_ == nullptr) {
      absl::StatusOr<std::unique_ptr<access::TokenWatch>> opened = access::TokenWatch::Open(folder_.path());
      ASSERT_TRUE(opened.ok()) << opened.status();
      watch_ = *std::move(opened);
      store_.emplace(watch_.get(), [this] { return now; });
    }
    watch_->Look();
  }

  TokenFolder folder_;
  std::unique_ptr<access::TokenWatch> watch_;
  std::optional<SessionStore> store_;
  std::string reader_;
};

TEST(SessionStore, WithoutTokensEverybodyReads) {
  SessionStore store(nullptr);
  EXPECT_FALSE(store.is_sign_in_required());
  EXPECT_TRUE(store.Admit({}).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(store.SignIn("tt_x", "here").status()));
}

TEST(SessionStore, ExchangesATokenForACookie) {
  SessionStory story;
  const absl::StatusOr<SessionStore::SignedIn> signed_in = story.SignIn(story.reader());
  ASSERT_TRUE(signed_in.ok()) << signed_in.status();
  EXPECT_EQ(signed_in->reader.name, "dashboards");
  EXPECT_EQ(signed_in->reader.expires, story.now + SessionStore::kLifetime);
  EXPECT_THAT(signed_in->cookie, ::testing::MatchesRegex("[0-9a-f]{64}"));
  EXPECT_TRUE(story.Admit(signed_in->cookie).ok());
  story.store().SignOut(signed_in->cookie);
  EXPECT_TRUE(absl::IsUnauthenticated(story.Admit(signed_in->cookie)));
}

TEST(SessionStore, CookiesDiffer) {
  SessionStory story;
  EXPECT_NE(story.Cookie(story.reader()), story.Cookie(story.reader()));
}

TEST(SessionStore, RefusesTokensThatMayNotRead) {
  SessionStory story;
  EXPECT_TRUE(absl::IsUnauthenticated(story.SignIn("tt_unknown").status()));
  EXPECT_TRUE(absl::IsUnauthenticated(story.SignIn("").status()));
  const std::string writer = story.Add({.name = "ci", .roles = {access::Role::kWriter}});
  EXPECT_TRUE(absl::IsPermissionDenied(story.SignIn(writer).status()));
  const std::string admin = story.Add({.name = "root", .roles = {access::Role::kAdmin}});
  EXPECT_TRUE(story.SignIn(admin).ok());
}

TEST(SessionStore, ASessionEndsAfterItsLifetime) {
  SessionStory story;
  const std::string cookie = story.Cookie(story.reader());
  story.now += SessionStore::kLifetime - absl::Seconds(1);
  EXPECT_TRUE(story.Admit(cookie).ok());
  story.now += absl::Seconds(1);
  EXPECT_TRUE(absl::IsUnauthenticated(story.Admit(cookie)));
}

TEST(SessionStore, ASessionEndsWithItsToken) {
  SessionStory story;
  const std::string brief =
      story.Add({.name = "brief", .roles = {access::Role::kReader}, .expires = story.now + absl::Minutes(5)});
  const std::string cookie = story.Cookie(brief);
  story.now += absl::Minutes(5);
  EXPECT_TRUE(absl::IsUnauthenticated(story.Admit(cookie)));
}

TEST(SessionStore, ASessionEndsWhenItsTokenIsRevoked) {
  SessionStory story;
  const std::string leaver = story.Add({.name = "leaver", .roles = {access::Role::kReader}});
  const std::string gone = story.Cookie(leaver);
  const std::string stays = story.Cookie(story.reader());
  story.Revoke("leaver");
  EXPECT_TRUE(absl::IsUnauthenticated(story.Admit(gone)));
  EXPECT_TRUE(story.Admit(stays).ok());
}

TEST(SessionStore, OfATokenTheOldestSessionEndsFirst) {
  SessionStory story;
  const std::string other = story.Add({.name = "other", .roles = {access::Role::kReader}});
  const std::string of_other = story.Cookie(other);
  std::vector<std::string> cookies;
  for (size_t i = 0; i <= SessionStore::kMostOfToken; ++i) cookies.push_back(story.Cookie(story.reader()));
  EXPECT_FALSE(story.Admit(cookies[0]).ok());
  EXPECT_TRUE(story.Admit(cookies[1]).ok());
  EXPECT_TRUE(story.Admit(of_other).ok());
  EXPECT_EQ(story.store().size(), SessionStore::kMostOfToken + 1);
}

TEST(SessionStore, TooManyWrongTokensStopTheirNetworkOnly) {
  SessionStory story;
  for (int i = 0; i < SessionStore::kMostFailures; ++i) {
    EXPECT_TRUE(absl::IsUnauthenticated(story.SignIn("tt_wrong", "there").status()));
  }
  EXPECT_TRUE(absl::IsResourceExhausted(story.SignIn(story.reader(), "there").status()));
  EXPECT_TRUE(story.SignIn(story.reader(), "here").ok());
}

TEST(SessionStore, ProgramsSendTheirTokenWithEachRequest) {
  SessionStory story;
  const absl::StatusOr<Reader> reader = story.store().Admit({.authorization = "Bearer " + story.reader()});
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->name, "dashboards");
  EXPECT_TRUE(absl::IsUnauthenticated(story.store().Admit({.authorization = "Bearer tt_no"}).status()));
  EXPECT_TRUE(absl::IsUnauthenticated(story.store().Admit({.authorization = "Basic eA=="}).status()));
  EXPECT_EQ(story.store().size(), 0U);
}

}  // namespace
}  // namespace telemetry::web::session
