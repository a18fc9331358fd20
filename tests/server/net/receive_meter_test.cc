#include "server/net/receive_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <vector>

namespace telemetry::net {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Peer PeerAt(uint32_t address, uint16_t port) {
  sockaddr_storage storage = {};
  auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
  v4 = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(address)}};
  return Peer::Of(storage);
}

class ReceiveMeterTest : public testing::Test {
 protected:
  explicit ReceiveMeterTest(uint64_t limit_bytes = 1000) : meter_(limit_bytes) {}

  // Reports the total bytes read from each peer. Returns the ports of the connections to end.
  std::vector<uint16_t> Read(const std::vector<ReceiveMeter::Reading>& readings,
                             absl::Duration elapsed = absl::ZeroDuration()) {
    std::vector<uint16_t> ports;
    for (const ReceiveMeter::Excess& excess : meter_.Update(readings, elapsed, memory_is_scarce_)) {
      ports.push_back(excess.peer.port);
    }
    return ports;
  }

  const Peer a1_ = PeerAt(1, 11);
  const Peer a2_ = PeerAt(1, 12);
  const Peer b_ = PeerAt(2, 21);
  ReceiveMeter meter_;
  bool memory_is_scarce_ = false;
};

// The limit is higher than all amounts in these tests.
class ScarceMemoryTest : public ReceiveMeterTest {
 protected:
  ScarceMemoryTest() : ReceiveMeterTest(uint64_t{1} << 30) { memory_is_scarce_ = true; }
};

TEST_F(ReceiveMeterTest, TheConnectionThatHoldsMostIsEnded) {
  meter_.BeginCall(a1_);
  meter_.BeginCall(a2_);
  meter_.BeginCall(b_);
  EXPECT_THAT(Read({{a1_, 400}, {a2_, 300}, {b_, 300}}), IsEmpty());
  EXPECT_THAT(Read({{a1_, 400}, {a2_, 301}, {b_, 300}}), ElementsAre(11));
  EXPECT_THAT(Read({{a1_, 400}, {a2_, 301}, {b_, 300}}), IsEmpty()) << "the connection was ended before";
}

TEST_F(ReceiveMeterTest, TheTimeToTheLimitFollowsFromTheLastReadings) {
  EXPECT_GT(meter_.TimeToLimit(), absl::Seconds(100));
  meter_.BeginCall(a1_);
  Read({{a1_, 200}}, absl::Milliseconds(10));
  const auto milliseconds = [this] { return absl::ToDoubleMilliseconds(meter_.TimeToLimit()); };
  EXPECT_NEAR(milliseconds(), 40, 1) << "800 bytes at 200 bytes per 10 ms";
  Read({{a1_, 400}}, absl::Milliseconds(5));
  EXPECT_NEAR(milliseconds(), 15, 1);
  meter_.AddMessage(a1_, 1400);
  Read({{a1_, 1400}}, absl::Milliseconds(10));
  EXPECT_GT(meter_.TimeToLimit(), absl::Seconds(100)) << "the message has arrived";
}

class BusiestTest : public ReceiveMeterTest {
 protected:
  BusiestTest() : ReceiveMeterTest(uint64_t{1} << 30) {}

  std::vector<uint16_t> Busiest() {
    std::vector<uint16_t> ports;
    for (const ReceiveMeter::Excess& connection : meter_.FindBusiest()) ports.push_back(connection.peer.port);
    return ports;
  }

  static constexpr uint64_t kMuch = 400 << 10;
};

TEST_F(BusiestTest, IsTheNetworkOfTheConnectionThatWasReadMost) {
  Read({{a1_, kMuch}, {a2_, 100}, {b_, kMuch - 1}});
  EXPECT_THAT(Busiest(), UnorderedElementsAre(11, 12)) << "the other one may be next";
  EXPECT_THAT(Read({{b_, kMuch - 1}}), IsEmpty());
  EXPECT_THAT(Busiest(), ElementsAre(21)) << "the others are closed";
}

TEST_F(BusiestTest, SparesAConnectionThatWorks) {
  meter_.BeginCall(a2_);
  meter_.AddMessage(a2_, 100);
  Read({{a1_, kMuch}, {a2_, 100}});
  EXPECT_THAT(Busiest(), ElementsAre(11));
}

TEST_F(BusiestTest, ACallMayHaveAnUnfinishedMessage) {
  constexpr uint64_t kMessage = 9 << 20;
  meter_.BeginCall(a1_);
  Read({{a1_, kMessage}});
  EXPECT_THAT(Busiest(), IsEmpty());
  Read({{a1_, kMessage + kMuch}});
  EXPECT_THAT(Busiest(), ElementsAre(11)) << "no message is that long";
}

TEST_F(BusiestTest, CompleteMessagesKeepNobodyWaiting) {
  meter_.BeginCall(a1_);
  meter_.AddMessage(a1_, kMuch);
  Read({{a1_, kMuch}});
  EXPECT_THAT(Busiest(), IsEmpty());
}

TEST_F(BusiestTest, IsForgottenAfterAMoment) {
  Read({{a1_, kMuch}});
  Read({{a1_, kMuch}}, absl::Seconds(1));
  EXPECT_THAT(Busiest(), IsEmpty());
}

TEST_F(ReceiveMeterTest, OneNetworkHasThreeQuarters) {
  meter_.BeginCall(a1_);
  meter_.BeginCall(a2_);
  EXPECT_THAT(Read({{a1_, 350}, {a2_, 400}}), IsEmpty());
  EXPECT_THAT(Read({{a1_, 351}, {a2_, 400}}), ElementsAre(12));
}

TEST_F(ReceiveMeterTest, AnAddressThatHoldsLittleIsNotEndedForAnother) {
  meter_.BeginCall(a1_);
  meter_.BeginCall(a2_);
  meter_.BeginCall(b_);
  EXPECT_THAT(Read({{a1_, 300}, {a2_, 300}, {b_, 450}}), ElementsAre(testing::AnyOf(11, 12)));
}

TEST_F(ReceiveMeterTest, WholeMessagesAreNotHeld) {
  meter_.BeginCall(b_);
  for (uint64_t message = 1; message <= 100; ++message) {
    meter_.AddMessage(b_, 700);
    EXPECT_THAT(Read({{b_, message * (700 + 14)}}), IsEmpty());
  }
  EXPECT_THAT(Read({{b_, 100 * 714 + 751}}), ElementsAre(21))
      << "the allowance of earlier messages is not carried over";
}

TEST_F(ReceiveMeterTest, AMessageThatIsReadInPartsIsHeldUntilItIsWhole) {
  meter_.BeginCall(b_);
  EXPECT_THAT(Read({{b_, 500}}), IsEmpty());
  meter_.AddMessage(b_, 700);
  EXPECT_THAT(Read({{b_, 714}}), IsEmpty());
  EXPECT_THAT(Read({{b_, 714 + 740}}), IsEmpty());
  EXPECT_THAT(Read({{b_, 714 + 760}}), ElementsAre(21));
}

// Sends a ping of 17 bytes each second for three minutes.
TEST_F(ReceiveMeterTest, PingsAreNotHeld) {
  meter_.BeginCall(b_);
  for (uint64_t reading = 1; reading <= 18'000; ++reading) {
    ASSERT_THAT(Read({{b_, reading / 100 * 17}}, absl::Milliseconds(10)), IsEmpty()) << reading;
  }
}

TEST_F(ReceiveMeterTest, AConnectionWithoutCallsHoldsNothing) {
  meter_.BeginCall(b_);
  EXPECT_THAT(Read({{b_, 700}}), IsEmpty());
  meter_.EndCall(b_);
  EXPECT_THAT(Read({{b_, 5000}}), IsEmpty());
  meter_.BeginCall(b_);
  EXPECT_THAT(Read({{b_, 5700}}), IsEmpty());
  EXPECT_THAT(Read({{b_, 5760}}), ElementsAre(21));
}

TEST_F(ReceiveMeterTest, AConnectionFromThePortOfAClosedOneBeginsAnew) {
  meter_.BeginCall(b_);
  EXPECT_THAT(Read({{b_, 700}}), IsEmpty());
  meter_.EndCall(b_);
  EXPECT_THAT(Read({}), IsEmpty());
  meter_.BeginCall(b_);
  EXPECT_THAT(Read({{b_, 700}}), IsEmpty());
  EXPECT_THAT(Read({{b_, 760}}), ElementsAre(21));
}

TEST_F(ScarceMemoryTest, HalfOfWhatIsHeldIsTooMuch) {
  meter_.BeginCall(a1_);
  meter_.BeginCall(a2_);
  meter_.BeginCall(b_);
  EXPECT_THAT(Read({{a1_, 3'000'000}, {a2_, 1'000'000}, {b_, 500'000}}), ElementsAre(11));
  EXPECT_THAT(Read({{a1_, 3'000'000}, {a2_, 1'000'000}, {b_, 500'000}}), ElementsAre(12));
  memory_is_scarce_ = false;
  EXPECT_THAT(Read({{b_, 500'000}}), IsEmpty());
}

TEST_F(ScarceMemoryTest, ANetworkThatHoldsNextToNothingIsSpared) {
  meter_.BeginCall(b_);
  EXPECT_THAT(Read({{b_, 256 << 10}}), IsEmpty());
}

// Covers calls that end before the next reading or were never admitted.
TEST_F(ScarceMemoryTest, HeadersAloneCountForAMoment) {
  memory_is_scarce_ = false;
  EXPECT_THAT(Read({{a1_, 400'000}, {b_, 400'000}}), IsEmpty());
  EXPECT_THAT(Read({{a1_, 800'000}, {b_, 400'000}}, absl::Seconds(1)), IsEmpty());
  memory_is_scarce_ = true;
  EXPECT_THAT(Read({{a1_, 800'000}, {b_, 400'000}}), ElementsAre(11));
}

TEST_F(ScarceMemoryTest, WholeMessagesDoNotCount) {
  for (uint64_t message = 1; message <= 100; ++message) {
    meter_.BeginCall(b_);
    meter_.AddMessage(b_, 10'000);
    EXPECT_THAT(Read({{b_, message * 10'200}}, absl::Milliseconds(10)), IsEmpty());
    meter_.EndCall(b_);
  }
}

}  // namespace
}  // namespace telemetry::net
