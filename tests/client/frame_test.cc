#include "client/frame.h"

#include <string>

#include "client/segment.h"
#include "gtest/gtest.h"

namespace telemetry::client {
namespace {

constexpr uint32_t kSalt = 0x5f3a9c01;

std::string MakeFrame(uint64_t seq, std::string_view payload, uint32_t salt = kSalt) {
  std::string bytes;
  payload.copy(AddFrame(payload.size(), &bytes), payload.size());
  SealFrame(salt, seq, bytes.data());
  return bytes;
}

TEST(FrameTest, ComesBackAsItWentIn) {
  for (const std::string& payload : {std::string(), std::string("x"), std::string(70000, '\0')}) {
    const std::string bytes = MakeFrame(7, payload) + "what follows";
    const std::optional<Frame> frame = DecodeFrame(kSalt, bytes);
    ASSERT_TRUE(frame.has_value());
    EXPECT_EQ(frame->seq, 7);
    EXPECT_EQ(frame->payload, payload);
    EXPECT_EQ(frame->size(), kFrameHeaderBytes + payload.size());
  }
}

TEST(FrameTest, EveryFlippedBitIsNoticed) {
  const std::string bytes = MakeFrame(7, "Config(num_warps=4)");
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(DecodeFrame(kSalt, flipped).has_value()) << "bit " << bit;
  }
}

TEST(FrameTest, ZeroesAreNoFrame) { EXPECT_FALSE(DecodeFrame(0, std::string(64, '\0')).has_value()); }

TEST(FrameTest, AnotherSegmentsFrameIsNone) {
  EXPECT_FALSE(DecodeFrame(kSalt, MakeFrame(7, "x", kSalt + 1)).has_value());
}

TEST(FrameTest, IsFoundBehindGarbage) {
  const std::string bytes = "garbage" + MakeFrame(3, "old") + MakeFrame(7, "x");
  EXPECT_EQ(FindFrame(kSalt, 5, 9, bytes), 7 + kFrameHeaderBytes + 3);
  EXPECT_EQ(FindFrame(kSalt, 8, 9, bytes), std::string::npos);
}

TEST(FrameTest, AFrameInsideAPayloadIsOnlyFoundWhereItsSegmentIs) {
  const std::string bytes = "garbage" + MakeFrame(7, MakeFrame(8, "inner", kSalt + 1)).substr(1);
  EXPECT_EQ(FindFrame(kSalt, 7, 9, bytes), std::string::npos);
}

TEST(SegmentHeaderTest, ComesBackAndNoticesEveryFlippedBit) {
  const std::string bytes = EncodeSegmentHeader({.salt = kSalt, .first_seq = 42});
  ASSERT_EQ(bytes.size(), kSegmentHeaderBytes);
  const std::optional<SegmentHeader> header = DecodeSegmentHeader(bytes);
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->salt, kSalt);
  EXPECT_EQ(header->first_seq, 42);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(DecodeSegmentHeader(flipped).has_value()) << "bit " << bit;
  }
}

TEST(SegmentHeaderTest, TheNameHoldsWhatTheHeaderHolds) {
  const std::string name = SegmentName({.salt = kSalt, .first_seq = 42});
  EXPECT_EQ(name, "00000000000000000042-5f3a9c01.seg");
  const std::optional<SegmentHeader> header = ParseSegmentName(name);
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->salt, kSalt);
  EXPECT_EQ(header->first_seq, 42);
  EXPECT_FALSE(ParseSegmentName(name + ".damaged").has_value());
  EXPECT_FALSE(ParseSegmentName("0000000000000000004x-5f3a9c01.seg").has_value());
}

}  // namespace
}  // namespace telemetry::client
