#include "proto/log/line.h"

#include <gtest/gtest.h>

#include "proto/record/json.h"

namespace telemetry::log {
namespace {

TEST(TextLine, HasTheMessageAndWhatDiffers) {
  EXPECT_EQ(TextLine("done", {}), "done");
  EXPECT_EQ(TextLine("read tokens", {{"count", 3}, {"file", "/etc/tokens.json"}}),
            "read tokens: count=3 file=/etc/tokens.json");
  EXPECT_EQ(TextLine("refused", {{"name", ""}, {"reason", "no \"token\""}}), "refused: reason=\"no \\\"token\\\"\"");
  EXPECT_EQ(TextLine("x", {{"a", "b=c"}, {"n", -1}}), "x: a=\"b=c\" n=-1");
}

TEST(TextLine, NobodyBeginsALineOfHisOwn) {
  EXPECT_EQ(TextLine("x", {{"client", "a\n2026-01-01T00:00:00Z info all is well"}}),
            "x: client=\"a\\n2026-01-01T00:00:00Z info all is well\"");
  const std::string hostile("\0\r\x1b[2J\x7f\xc2\x85\xe2\x80\xa8\xe2\x80\xae\xff\xc0", 17);
  EXPECT_EQ(TextLine(hostile, {{"a", hostile}}),
            "\\u0000\\u000d\\u001b[2J\\u007f\\u0085\\u2028\\u202e\\xff\\xc0: "
            "a=\\u0000\\u000d\\u001b[2J\\u007f\\u0085\\u2028\\u202e\\xff\\xc0");
}

TEST(TextLine, LeavesWordsOfAllLanguagesAsTheyAre) {
  EXPECT_EQ(OneLine("Müller-Prüfstand 試験"), "Müller-Prüfstand 試験");
}

TEST(TextLine, CutsWhatIsVeryLong) {
  const std::string line = TextLine("x", {{"a", std::string(1 << 20, 'a')}});
  EXPECT_LT(line.size(), 1100u);
  EXPECT_TRUE(line.ends_with("..."));
}

TEST(JsonMembers, AreJsonWhateverTheyHold) {
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  const std::string text =
      "{" + JsonMembers("a \"b\"\n" + every_byte, {{"text", every_byte}, {"none", ""}, {"n", 7}}) + "}";
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const absl::StatusOr<record::Json> json = record::ParseJson(text);
  ASSERT_TRUE(json.ok()) << json.status() << "\n" << text;
  ASSERT_EQ(json->members.size(), 3u);
  EXPECT_EQ(json->members[0].first, "message");
  EXPECT_EQ(json->Find("n")->kind, record::Json::Kind::kNumber);
  EXPECT_NE(json->Find("text")->text.find("\xEF\xBF\xBD"), std::string::npos);
}

TEST(JsonMembers, ACharacterThatIsCutIsNoFault) {
  std::string text(999, 'a');
  text += "\xc3\xa4 and more";  // the limit is in the middle of this character
  EXPECT_TRUE(record::ParseJson("{" + JsonMembers(text, {}) + "}").ok());
}

}  // namespace
}  // namespace telemetry::log
