#include "server/access/token_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "server/access/token_file.h"
#include "tests/server/access/log_capture.h"
#include "tests/temp_folder.h"

namespace telemetry::access {
namespace {

using ::testing::HasSubstr;

class TokenWatchTest : public ::testing::Test {
 protected:
  std::string Add() {
    const absl::StatusOr<NewToken> added = MakeNewToken({.roles = {Role::kWriter}, .created = absl::Now()});
    EXPECT_TRUE(ChangeTokens(path_, [&](std::vector<Token>& tokens) {
                  tokens.push_back(added->token);
                  return absl::OkStatus();
                }).ok());
    return added->text;
  }
  std::unique_ptr<TokenWatch> Watch() {
    absl::StatusOr<std::unique_ptr<TokenWatch>> watch = TokenWatch::Open(path_);
    EXPECT_TRUE(watch.ok()) << watch.status();
    (*watch)->Start([this] {
      const absl::MutexLock lock(&mutex_);
      ++ticks_;
    });
    return *std::move(watch);
  }
  // Blocks until the watch has completed two checks of the file.
  void AwaitLooks() {
    const absl::MutexLock lock(&mutex_);
    const int before = ticks_;
    const auto looked = [this, before] { return ticks_ >= before + 2; };
    EXPECT_TRUE(mutex_.AwaitWithTimeout(absl::Condition(&looked), absl::Seconds(60)));
  }

  TempFolder folder_;
  const std::string path_ = folder_.File("tokens.json");
  absl::Mutex mutex_;
  int ticks_ = 0;
};

TEST_F(TokenWatchTest, SeesWhatChanges) {
  const std::string first = Add();
  const std::unique_ptr<TokenWatch> watch = Watch();
  EXPECT_NE(watch->tokens()->FindText(first), nullptr);
  const std::string second = Add();
  AwaitLooks();
  EXPECT_NE(watch->tokens()->FindText(first), nullptr);
  EXPECT_NE(watch->tokens()->FindText(second), nullptr);
  watch->Stop();
}

TEST_F(TokenWatchTest, AFileThatBreaksLeavesTheTokensAsTheyWere) {
  const LogCapture log;
  const std::string token = Add();
  const std::unique_ptr<TokenWatch> watch = Watch();
  std::ofstream(path_) << "{";
  AwaitLooks();
  EXPECT_NE(watch->tokens()->FindText(token), nullptr);
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  AwaitLooks();
  EXPECT_NE(watch->tokens()->FindText(token), nullptr);
  Add();
  AwaitLooks();
  EXPECT_EQ(watch->tokens()->FindText(token), nullptr);
  watch->Stop();
  EXPECT_THAT(log.text(), HasSubstr(path_));
  EXPECT_THAT(log.text(), HasSubstr("the last tokens stay valid"));
}

// Prevents this process from opening files during its lifetime.
class NoDescriptors {
 public:
  NoDescriptors() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit none = {.rlim_cur = 0, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_ = {};
};

TEST_F(TokenWatchTest, AChangeThatCouldNotBeReadAtFirstIsReadLater) {
  const LogCapture log;
  const std::string old_token = Add();
  const std::unique_ptr<TokenWatch> watch = Watch();
  // UBSan needs descriptors when it first checks the type of an object; wait for that check.
  AwaitLooks();
  const std::string changed = folder_.File("changed.json");
  ASSERT_TRUE(ChangeTokens(changed, [](std::vector<Token>&) { return absl::OkStatus(); }).ok());
  {
    const NoDescriptors none;
    std::filesystem::rename(changed, path_);
    AwaitLooks();
  }
  EXPECT_NE(watch->tokens()->FindText(old_token), nullptr);
  AwaitLooks();
  EXPECT_EQ(watch->tokens()->FindText(old_token), nullptr) << "a removed token is still accepted";
  watch->Stop();
}

TEST_F(TokenWatchTest, NobodyIsLetInAfterAMinuteWithoutTheFile) {
  const LogCapture log;
  Add();
  SteadyTime now = SteadyNow();
  const std::unique_ptr<TokenWatch> watch = *TokenWatch::Open(path_, [&now] { return now; });
  const std::string hidden = folder_.File("hidden.json");
  std::filesystem::rename(path_, hidden);
  watch->Look();
  now += std::chrono::seconds(60);
  watch->Look();
  EXPECT_TRUE(watch->CheckReadable().ok());
  now += std::chrono::seconds(1);
  const absl::Status late = watch->CheckReadable();
  EXPECT_TRUE(absl::IsUnavailable(late)) << late;
  EXPECT_THAT(std::string(late.message()), HasSubstr("token file for 61 s"));
  EXPECT_EQ(watch->UnreadableFor(), absl::Seconds(61));
  EXPECT_EQ(log.Count("the last tokens stay valid"), 1u) << "the failure is logged once";
  std::filesystem::rename(hidden, path_);
  watch->Look();
  now += std::chrono::seconds(100);
  EXPECT_TRUE(watch->CheckReadable().ok());
  EXPECT_EQ(watch->UnreadableFor(), absl::ZeroDuration());
}

TEST_F(TokenWatchTest, DoesNotBeginWithoutAFile) { EXPECT_TRUE(absl::IsNotFound(TokenWatch::Open(path_).status())); }

}  // namespace
}  // namespace telemetry::access
