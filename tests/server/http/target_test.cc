#include "server/http/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace telemetry::http {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Target Parse(std::string_view text) {
  absl::StatusOr<Target> target = ParseTarget(text);
  EXPECT_TRUE(target.ok()) << target.status();
  return *std::move(target);
}

TEST(Target, HasDecodedSegmentsAndParameters) {
  const Target target = Parse("/runs/a%20b+c?kernel=soft%2Dmax+x&limit=10&flag&empty=&kernel=%E2%82%AC");
  EXPECT_EQ(target.path, "/runs/a b+c");
  EXPECT_THAT(target.segments, ElementsAre("runs", "a b+c"));
  EXPECT_THAT(target.query, ElementsAre(Pair("kernel", "soft-max x"), Pair("limit", "10"), Pair("flag", ""),
                                        Pair("empty", ""), Pair("kernel", "\u20ac")));
  EXPECT_EQ(target.Find("kernel"), "soft-max x");
  EXPECT_EQ(target.Find("other"), std::nullopt);
  EXPECT_THAT(target.FindAll("kernel"), ElementsAre("soft-max x", "\u20ac"));
}

TEST(Target, MayEndWithASlash) {
  EXPECT_THAT(Parse("/").segments, IsEmpty());
  EXPECT_EQ(Parse("/").path, "/");
  EXPECT_EQ(Parse("/runs/").path, "/runs/");
  EXPECT_THAT(Parse("/runs/?a=1").segments, ElementsAre("runs"));
}

TEST(Target, IsAPath) {
  for (const char* text : {"", "*", "runs", "?a=b", "http://localhost/", "localhost:80"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseTarget(text).status())) << text;
  }
}

TEST(Target, NeverLeadsOutOfAFolder) {
  for (const char* path : {"/..",
                           "/a/../b",
                           "/./a",
                           "/.",
                           "/%2e%2e/etc/passwd",
                           "/%2E./a",
                           "/.%2e",
                           "/%2e",
                           "/..%2fetc",
                           "/a%2f..",
                           "/a%2Fb",
                           "/..%5cetc",
                           "/a\\b",
                           "/a%5Cb",
                           "//etc/passwd",
                           "/a//b",
                           "//",
                           "/%c0%ae%c0%ae/a",
                           "/%e0%80%ae",
                           "/a%00b",
                           "/%00"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseTarget(path).status())) << path;
  }
  // Decoded once only.
  EXPECT_THAT(Parse("/%252e%252e/a").segments, ElementsAre("%2e%2e", "a"));
  EXPECT_THAT(Parse("/...").segments, ElementsAre("..."));
}

TEST(Target, IsCleanText) {
  for (const char* text : {"/%", "/%4", "/%zz", "/?a=%", "/?%f=1", "/?a=%00", "/?a=%0d%0aX: y", "/%7f", "/?a=%ff",
                           "/?a=%ed%a0%80", "/\x01"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseTarget(text).status())) << text;
  }
}

TEST(Target, HasALimitedNumberOfParameters) {
  std::string text = "/?";
  for (size_t i = 0; i < kMostParameters; ++i) absl::StrAppend(&text, "a=", i, "&");
  EXPECT_EQ(Parse(text).query.size(), kMostParameters);
  EXPECT_TRUE(absl::IsInvalidArgument(ParseTarget(text + "b").status()));
}

TEST(Target, HasALimitedDepth) {
  std::string path;
  for (size_t i = 0; i < kMostSegments; ++i) path += "/a";
  EXPECT_EQ(Parse(path).segments.size(), kMostSegments);
  EXPECT_TRUE(absl::IsInvalidArgument(ParseTarget(path + "/a").status()));
}

TEST(PercentDecode, DecodesAnyByte) {
  EXPECT_EQ(PercentDecode("%00%fF+", false), std::string("\0\xff+", 3));
  EXPECT_EQ(PercentDecode("a+b%2B", true), "a b+");
  EXPECT_EQ(PercentDecode("%g0", false), std::nullopt);
}

}  // namespace
}  // namespace telemetry::http
