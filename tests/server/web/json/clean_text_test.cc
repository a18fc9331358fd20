#include "server/web/json/clean_text.h"

#include <gtest/gtest.h>

#include "proto/record/utf8.h"

namespace telemetry::web::json {
namespace {

using namespace std::string_literals;

TEST(CleanTextTest, KeepsACleanText) {
  EXPECT_EQ(CleanText("", 10), "");
  EXPECT_EQ(CleanText("a\nb\u00e9\U0001F600", 100), "a\nb\u00e9\U0001F600");
}

TEST(CleanTextTest, ReplacesNulAndEachInvalidByte) {
  EXPECT_EQ(CleanText("a\0b"s, 10), "a\uFFFDb");
  EXPECT_EQ(CleanText("a\xFF\xFE b", 10), "a\uFFFD\uFFFD b");
  EXPECT_EQ(CleanText("\xC3", 10), "\uFFFD");                      // a code point that ends early
  EXPECT_EQ(CleanText("\xED\xA0\x80", 10), "\uFFFD\uFFFD\uFFFD");  // half of a surrogate pair
  EXPECT_EQ(CleanText("\xC0\x80", 10), "\uFFFD\uFFFD");            // overlong
}

// The pages show these as code points, so that they change nothing around them.
TEST(CleanTextTest, KeepsControlsOfTheDirectionOfText) { EXPECT_EQ(CleanText("a\u202Eb\u2066", 20), "a\u202Eb\u2066"); }

TEST(CleanTextTest, CutsBetweenCodePoints) {
  EXPECT_EQ(CleanText("abcdef", 6), "abcdef");
  EXPECT_EQ(CleanText("abcdefg", 6), "abcdef\u2026");
  EXPECT_EQ(CleanText("abcde\u00e9", 6), "abcde\u2026");
  EXPECT_EQ(CleanText("abc\U0001F600", 6), "abc\u2026");
  EXPECT_EQ(CleanText("abc\U0001F600", 7), "abc\U0001F600");
}

TEST(CleanTextTest, IsBoundedForALongHostileText) {
  for (const std::string& part : {"\x80"s, "\0"s, "\xF0\x9F"s, "\u202E"s}) {
    std::string text;
    while (text.size() < 1 << 20) text += part;
    const std::string clean = CleanText(text, kListTextBytes);
    EXPECT_LE(clean.size(), 3 * kListTextBytes + 3);
    EXPECT_GE(clean.size(), kListTextBytes - 4);
    EXPECT_EQ(record::FindInvalidUtf8(clean), std::string::npos);
  }
}

}  // namespace
}  // namespace telemetry::web::json
