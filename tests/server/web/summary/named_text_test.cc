#include "server/web/summary/named_text.h"

#include <gtest/gtest.h>

namespace telemetry::web::summary {
namespace {

using namespace std::string_literals;

TEST(NamedTextTest, FiltersSelectTheirText) {
  for (const std::string& text : {"softmax"s, "[(4096, 2560)]"s, ""s, "null:"s, "sha256:0"s, "a\nb"s, "\xFF"s, "x\0y"s,
                                  "' OR 1=1"s, std::string(200, 'x'), std::string(201, 'x'), "a\u202Eb"s}) {
    const std::string filter = FilterOf(text);
    EXPECT_EQ(DigestOfFilter(filter), std::optional(TextDigest(text))) << text;
    EXPECT_LE(filter.size(), 200U);
    EXPECT_FALSE(filter.empty());
    EXPECT_NE(filter, kNullFilter);
  }
  EXPECT_EQ(FilterOf("softmax"), "softmax");
  EXPECT_TRUE(FilterOf("").starts_with("sha256:"));
}

TEST(NamedTextTest, SelectsNothingForAWrongHash) {
  EXPECT_EQ(DigestOfFilter("sha256:12"), std::nullopt);
  EXPECT_EQ(DigestOfFilter("sha256:xyz"), std::nullopt);
  EXPECT_EQ(DigestOfFilter(kNullFilter), std::optional(""s));
}

}  // namespace
}  // namespace telemetry::web::summary
