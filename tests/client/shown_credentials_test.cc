// Tests the credentials that a producer sends and its behaviour when the collector refuses them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/time/clock.h"
#include "proto/access/bearer_token.h"
#include "tests/client/producer_fixture.h"

namespace telemetry::client {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

class ShownCredentialsTest : public ProducerTest {
 protected:
  ShownCredentialsTest() {
    collector_.RequireToken(token_);
    collector_.Start();
    options_.credentials.token_file = file_;
  }
  // Expects that Drain() fails long before its timeout.
  void ExpectShutOut(const std::string& why) {
    const absl::Status status = producer_->Drain(absl::Hours(1));
    EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
    EXPECT_THAT(std::string(status.message()), HasSubstr("1 record waiting in the spool"));
  }

  const std::string file_ = folder_.path() + "/token";
  const std::string token_ = *access::MakeToken();
};

TEST_F(ShownCredentialsTest, TheTokenOfTheFileIsShown) {
  SetContents(file_, token_ + "\n");
  Open();
  Append("a");
  Drain();
  EXPECT_EQ(collector_.AwaitStored(1).size(), 1);
}

TEST_F(ShownCredentialsTest, ATokenThatIsRenewedIsReadAgain) {
  SetContents(file_, *access::MakeToken());
  Open();
  Append("a");
  ExpectShutOut("another token is needed");
  SetContents(file_, token_);
  AwaitNotice("is back");
  Drain();
}

TEST_F(ShownCredentialsTest, AFileThatIsMissingIsSaidAndWaitedFor) {
  Open();
  Append("a");
  ExpectShutOut(file_);
  AwaitNotice(file_);  // the state changes before the notice appears
  EXPECT_THAT(notices(), Contains(HasSubstr(file_)).Times(1));
  SetContents(file_, token_);
  AwaitNotice("is back");
  Drain();
}

TEST_F(ShownCredentialsTest, WhoWasTurnedAwayBeforeIsToldAtOnce) {
  SetContents(file_, *access::MakeToken());
  options_.retry_cap = absl::Hours(1);
  Open();
  Append("a");
  AwaitNotice("another token is needed");
  ExpectShutOut("another token is needed");
}

TEST_F(ShownCredentialsTest, NoNoticeHoldsTheToken) {
  const std::string other = *access::MakeToken();
  SetContents(file_, other);
  Open();
  Append("a");
  ExpectShutOut("another token is needed");
  EXPECT_THAT(notices(), Each(Not(HasSubstr(other.substr(3)))));
}

}  // namespace
}  // namespace telemetry::client
