#include "proto/record/sidecar/config_text.h"

#include <gtest/gtest.h>

#include "proto/record/ids.h"
#include "proto/record/python_literal.h"

namespace telemetry::record::sidecar {
namespace {

TEST(ConfigText, ArgumentsAreSortedInTheTextAndNotAmongTheKeys) {
  const Json config = ParseJson(R"({"num_warps": 4, "block_sizes": [32, 64], "indexing": "it's"})").value();
  EXPECT_EQ(SortedConfigText(config), R"(Config(block_sizes=[32, 64], indexing="it's", num_warps=4))");
  EXPECT_EQ(ConfigKeysJson(config), R"(["num_warps", "block_sizes", "indexing"])");
  EXPECT_EQ(ConfigId(ParseConfig(SortedConfigText(config)).value()), ConfigId(config));
}

TEST(ConfigText, AnEmptyConfigIsOne) {
  EXPECT_EQ(SortedConfigText(Json::Object()), "Config()");
  EXPECT_EQ(ConfigKeysJson(Json::Object()), "[]");
}

}  // namespace
}  // namespace telemetry::record::sidecar
