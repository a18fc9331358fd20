#include "proto/record/ids.h"

#include <gtest/gtest.h>

namespace telemetry::record {
namespace {

Json Parsed(std::string_view text) { return ParseJson(text).value(); }

TEST(Ids, Sha256OfTheStandardsExamples) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(HexEncode(Sha256("abc")), Sha256Hex("abc"));
}

// The examples of RFC 3720, B.4.
TEST(Ids, Crc32cOfTheStandardsExamples) {
  std::string ascending;
  std::string descending;
  for (int i = 0; i < 32; ++i) {
    ascending.push_back(static_cast<char>(i));
    descending.push_back(static_cast<char>(31 - i));
  }
  EXPECT_EQ(Crc32c(0, std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(Crc32c(0, std::string(32, '\xFF')), 0x62A8AB43u);
  EXPECT_EQ(Crc32c(0, ascending), 0x46DD794Eu);
  EXPECT_EQ(Crc32c(0, descending), 0x113FDB5Cu);
  EXPECT_EQ(Crc32c(0, "123456789"), 0xE3069283u);
  EXPECT_EQ(Crc32c(0, ""), 0u);
}

TEST(Ids, Crc32cGoesOn) {
  const std::string text = "The pieces of a text, whatever their lengths, have the sum of the whole.";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(Crc32c(Crc32c(0, text.substr(0, cut)), text.substr(cut)), Crc32c(0, text));
  }
}

TEST(Ids, HexIdsAre64LowerCaseDigits) {
  EXPECT_TRUE(IsHexId(std::string(64, 'f')));
  EXPECT_FALSE(IsHexId(std::string(64, 'F')));
  EXPECT_FALSE(IsHexId(std::string(64, 'g')));
  EXPECT_FALSE(IsHexId(std::string(63, '0')));
  EXPECT_FALSE(IsHexId(""));
}

TEST(Ids, APrefixOfARunIdHasFourTo64LowerCaseHexDigits) {
  EXPECT_TRUE(IsRunIdPrefix("00af"));
  EXPECT_TRUE(IsRunIdPrefix(std::string(64, 'f')));
  EXPECT_FALSE(IsRunIdPrefix("00a"));
  EXPECT_FALSE(IsRunIdPrefix(std::string(65, 'f')));
  EXPECT_FALSE(IsRunIdPrefix("00aF"));
  EXPECT_FALSE(IsRunIdPrefix("00ag"));
  EXPECT_FALSE(IsRunIdPrefix(""));
}

TEST(Ids, HexThereAndBack) {
  EXPECT_EQ(HexEncode(std::string("\x00\xAB\xff", 3)), "00abff");
  EXPECT_EQ(*HexDecode("00abFF"), std::string("\x00\xAB\xff", 3));
  EXPECT_FALSE(HexDecode("abc").ok());
  EXPECT_FALSE(HexDecode("0g").ok());
}

TEST(Ids, ConfigIdsThereAndBack) {
  EXPECT_EQ(FormatConfigId(0xabc), "0000000000000abc");
  EXPECT_EQ(*ParseConfigId("0000000000000abc"), 0xabcu);
  EXPECT_EQ(*ParseConfigId("ffffffffffffffff"), UINT64_MAX);
  for (const char* wrong :
       {"", "0000000000000000", "abc", "000000000000000g", "0000000000000ABC", "00000000000000abc"}) {
    EXPECT_EQ(ParseConfigId(wrong).status().code(), absl::StatusCode::kInvalidArgument) << wrong;
  }
}

// Computed by Python 3.11 with the formula of Helion.
TEST(Ids, ConfigIdIsThatOfPythonsJson) {
  const Json config =
      Parsed(R"({"num_warps": 4, "block_sizes": [32, 16], "é": "x\"y", "f": 1e-05, "n": null, "t": true})");
  EXPECT_EQ(FormatConfigId(ConfigId(config)), "95cf90c12ae94c67");
}

TEST(Ids, SettingsSignatureSaysWhatEntersTheKernelId) {
  EXPECT_EQ(SettingsSignature(Parsed(R"({"static_shapes": true, "index_dtype": null})")), "static_shapes=True");
  EXPECT_EQ(SettingsSignature(Parsed(R"({"static_shapes": false, "index_dtype": "torch.int64"})")),
            "static_shapes=False, index_dtype=torch.int64");
  EXPECT_EQ(SettingsSignature(Parsed(R"({"index_dtype": "torch.int64"})")), std::nullopt);
  EXPECT_EQ(SettingsSignature(Json::Null()), std::nullopt);
}

TEST(Ids, PartsOfARunIdAreKeptApart) {
  EXPECT_EQ(RunIdPr2750("k", "s", "d", "h"), Sha256Hex(std::string_view("k\0s\0d\0h", 7)));
  EXPECT_NE(RunIdPr2750("ab", "c", "d", "h"), RunIdPr2750("a", "bc", "d", "h"));
  EXPECT_EQ(RunIdHelion("k", Json::Null(), "s", "d", "h"), Sha256Hex(std::string_view("k\0\0s\0d\0h", 8)));
}

TEST(Ids, DecoratorsThereAndBack) {
  const std::string decorator = Decorator("Config(a=1)", "static_shapes=False");
  EXPECT_EQ(decorator, "@helion.kernel(config=helion.Config(a=1), static_shapes=False)");
  EXPECT_EQ(SignatureOfDecorator(decorator, "Config(a=1)"), "static_shapes=False");
  EXPECT_EQ(SignatureOfDecorator(decorator, "Config(a=2)"), std::nullopt);
  EXPECT_EQ(SignatureOfDecorator("@helion.kernel()", "Config(a=1)"), std::nullopt);
}

}  // namespace
}  // namespace telemetry::record
