#include "server/access/token_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "proto/access/bearer_token.h"
#include "tests/temp_folder.h"

namespace telemetry::access {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TokenFileTest : public ::testing::Test {
 protected:
  NewToken Add(Token token) {
    const absl::StatusOr<NewToken> added = MakeNewToken(std::move(token));
    EXPECT_TRUE(ChangeTokens(path_, [&](std::vector<Token>& tokens) {
                  tokens.push_back(added->token);
                  return absl::OkStatus();
                }).ok());
    return *added;
  }
  std::string Content() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }
  void Write(const std::string& content) {
    std::ofstream(path_) << content;
    ::chmod(path_.c_str(), 0600);
  }
  absl::Status WhenATokenHas(const std::string& from, const std::string& to) {
    Write("");
    ::unlink(path_.c_str());
    Add({.roles = {Role::kWriter}, .created = absl::Now()});
    std::string content = Content();
    const size_t at = content.find(from);
    EXPECT_NE(at, std::string::npos) << content;
    Write(content.replace(at, from.size(), to));
    return ReadTokens(path_).status();
  }

  TempFolder folder_;
  const std::string path_ = folder_.File("tokens.json");
};

TEST_F(TokenFileTest, HoldsWhatWasAddedButNotTheToken) {
  const absl::Time created = absl::FromUnixSeconds(1'700'000'000);
  const NewToken one = Add({.name = "ci \"17\"\n",
                            .roles = {Role::kWriter, Role::kReader},
                            .created = created,
                            .expires = created + absl::Hours(1),
                            .producers = {std::string(32, 'a')}});
  const NewToken two = Add({.roles = {Role::kAdmin}, .created = created, .revoked = created + absl::Seconds(5)});
  EXPECT_TRUE(IsToken(one.text));
  EXPECT_NE(one.text, two.text);
  const absl::StatusOr<std::vector<Token>> tokens = ReadTokens(path_);
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  ASSERT_EQ(tokens->size(), 2u);
  for (const auto& [read, added] : {std::pair(tokens->at(0), one.token), std::pair(tokens->at(1), two.token)}) {
    EXPECT_EQ(read.id, added.id);
    EXPECT_EQ(read.name, added.name);
    EXPECT_EQ(read.roles, added.roles);
    EXPECT_EQ(read.sha256, added.sha256);
    EXPECT_EQ(read.created, added.created);
    EXPECT_EQ(read.expires, added.expires);
    EXPECT_EQ(read.revoked, added.revoked);
    EXPECT_EQ(read.producers, added.producers);
  }
  EXPECT_EQ(two.token.name, two.token.id);
  EXPECT_THAT(Content(), Not(HasSubstr(one.text.substr(3))));
}

TEST_F(TokenFileTest, IsForItsUserAlone) {
  Add({.roles = {Role::kReader}, .created = absl::Now()});
  struct stat status = {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
  for (const mode_t mode : {0640u, 0604u, 0620u, 0602u, 0666u}) {
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
    const absl::Status refused = ReadTokens(path_).status();
    EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("chmod 600 " + path_));
    EXPECT_FALSE(ChangeTokens(path_, [](std::vector<Token>&) { return absl::OkStatus(); }).ok());
  }
}

TEST_F(TokenFileTest, WhatIsWrongInItIsNamed) {
  EXPECT_TRUE(absl::IsNotFound(ReadTokens(path_).status()));
  for (const auto& [from, to, words] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"\"version\": 1", "\"version\": 2", "newer"},
           {"\"writer\"", "\"owner\"", "roles"},
           {"[\"writer\"]", "[]", "roles"},
           {"\"sha256\": \"", "\"sha256\": \"0", "sha256"},
           {"\"expires\": null", "\"expires\": \"soon\"", "expires"},
           {"\"revoked\": null, ", "", "revoked"},
           {"\"producers\": []", "\"producers\": [\"x\"]", "producers"},
           {"\"producers\": []", "\"producers\": [], \"networks\": []", "networks"},
           {"]}", "", path_}}) {
    const absl::Status status = WhenATokenHas(from, to);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << to << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(path_));
    EXPECT_THAT(std::string(status.message()), HasSubstr(words)) << to;
  }
}

TEST_F(TokenFileTest, AChangeThatFailsChangesNothing) {
  Add({.roles = {Role::kReader}, .created = absl::Now()});
  const std::string before = Content();
  EXPECT_TRUE(absl::IsAborted(ChangeTokens(path_, [](std::vector<Token>& tokens) {
    tokens.clear();
    return absl::AbortedError("no");
  })));
  EXPECT_EQ(Content(), before);
}

TEST_F(TokenFileTest, ChangesAtTheSameTimeAreAllMade) {
  constexpr int kThreads = 4;
  constexpr int kEach = 8;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this] {
      for (int k = 0; k < kEach; ++k) Add({.roles = {Role::kWriter}, .created = absl::Now()});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ReadTokens(path_)->size(), size_t{kThreads} * kEach);
}

}  // namespace
}  // namespace telemetry::access
