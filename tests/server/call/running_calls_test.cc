#include "server/call/running_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace telemetry::collector {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string FormatPeer(const std::string& host, uint64_t port) { return absl::StrCat("ipv4:", host, ":", port); }

class FloodsOfCalls : public ::testing::Test {
 protected:
  access::Gate gate_{nullptr};
  net::ReceiveMeter meter_{1 << 20};
  std::vector<std::string> floods_;
  call::RunningCalls calls_{gate_, meter_, {.calls_per_connection = 3, .on_flood = [this](const std::string& peer) {
                                              floods_.push_back(peer);
                                            }}};
};

TEST_F(FloodsOfCalls, AConnectionBeginsOnlySoManyAtATime) {
  const std::string peer = FormatPeer("192.0.2.1", 1);
  for (int i = 0; i < 3; ++i) calls_.AddBeginning(peer);
  for (int i = 0; i < 100; ++i) {  // sequential calls
    calls_.AddEnd(peer);
    calls_.AddBeginning(peer);
  }
  EXPECT_THAT(floods_, IsEmpty());
  calls_.AddBeginning(peer);
  EXPECT_THAT(floods_, ElementsAre(peer));
}

TEST_F(FloodsOfCalls, RefusalsOfANetworkCountTogether) {
  for (uint64_t port = 1; port <= call::RunningCalls::kMaxVainOfNetwork; ++port) {
    calls_.AddRefusal(FormatPeer("192.0.2.1", port));
    calls_.RemoveRefusal();
  }
  EXPECT_THAT(floods_, IsEmpty());
  calls_.AddRefusal(FormatPeer("192.0.2.2", 1));
  EXPECT_THAT(floods_, IsEmpty());
  calls_.AddRefusal(FormatPeer("192.0.2.1", 7));
  EXPECT_THAT(floods_, ElementsAre(FormatPeer("192.0.2.1", 7)));
}

TEST_F(FloodsOfCalls, AbandonedCallsCountLikeRefusedOnes) {
  const std::string peer = FormatPeer("192.0.2.1", 1);
  for (uint64_t i = 0; i < call::RunningCalls::kMaxVain / 2; ++i) {
    calls_.AddRefusal(peer);
    calls_.RemoveRefusal();
    EXPECT_THAT(floods_, IsEmpty());
    calls_.AddAbandoned(peer);
  }
  EXPECT_THAT(floods_, ElementsAre(peer));
  // Nobody has to read an answer to them.
  for (uint64_t host = 0; host < 2 * call::RunningCalls::kMaxUnreadRefusals; ++host) {
    calls_.AddAbandoned(FormatPeer(absl::StrCat("192.0.", host / 250, ".", host % 250), 1));
  }
  EXPECT_THAT(floods_, ElementsAre(peer));
}

TEST_F(FloodsOfCalls, RefusalsAreForgottenAfterATime) {
  const std::string peer = FormatPeer("192.0.2.1", 1);
  for (uint64_t round = 0; round < 10; ++round) {
    for (uint64_t i = 1; i < call::RunningCalls::kMaxVain; ++i) {
      calls_.AddRefusal(peer);
      calls_.RemoveRefusal();
    }
    calls_.CheckTimes(SteadyNow());
  }
  EXPECT_THAT(floods_, IsEmpty());
}

TEST_F(FloodsOfCalls, RefusalsThatNobodyReadsAreBounded) {
  constexpr uint64_t kMost = call::RunningCalls::kMaxUnreadRefusals;
  for (uint64_t host = 0; host <= kMost; ++host) {
    calls_.AddRefusal(FormatPeer(absl::StrCat("192.0.", host / 250, ".", host % 250), 1));
  }
  EXPECT_THAT(floods_, ElementsAre(FormatPeer(absl::StrCat("192.0.", kMost / 250, ".", kMost % 250), 1)));
}

}  // namespace
}  // namespace telemetry::collector
