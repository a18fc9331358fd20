#include "server/export/render/config_formatter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/record/json.h"
#include "proto/record/python_literal.h"

namespace telemetry::exporter::render {
namespace {

// Formats a config without the stored arguments: parses the whole text, and moves the named members to the front.
std::string Expected(const std::string& text, const std::string& keys_json) {
  absl::StatusOr<record::Json> config = record::ParseConfig(text);
  if (!config.ok()) return record::ToJson(record::Json::String(text));
  absl::StatusOr<record::Json> keys = record::ParseJson(keys_json);
  if (!keys.ok()) return record::ToJson(*config);
  record::Json ordered = record::Json::Object();
  auto& members = config->members;
  for (const record::Json& key : keys->items) {
    const auto found =
        std::find_if(members.begin(), members.end(), [&](auto& member) { return member.first == key.text; });
    if (found == members.end()) continue;
    ordered.members.push_back(*found);
    members.erase(found);
  }
  ordered.members.insert(ordered.members.end(), members.begin(), members.end());
  return record::ToJson(ordered);
}

TEST(ConfigFormatter, NamedMembersComeFirst) {
  ConfigFormatter formatter;
  EXPECT_EQ(formatter.Format("Config(a=1, b=[2, 'x'], c=None)", R"(["c", "none", "a", "c"])"),
            R"({"c": null, "a": 1, "b": [2, "x"]})");
  EXPECT_EQ(formatter.Format("Config(a=1, b=[2, 'x'], c=None)", ""), R"({"a": 1, "b": [2, "x"], "c": null})");
  EXPECT_EQ(formatter.Format("Config(a=1, b=[2, 'x'], c=None)", "not JSON"), R"({"a": 1, "b": [2, "x"], "c": null})");
}

TEST(ConfigFormatter, EveryFormOfAConfigIsParsedAsAWhole) {
  ConfigFormatter formatter;
  const std::vector<std::string> texts = {
      "",
      "Config()",
      "Config( a=1)",
      "Config(a=1 )",
      "Config(a=1,)",
      "Config(a=1, )",
      "Config(a=1,, b=2)",
      "Config(a=1 , b=2)",
      "Config(a=1,b=2, c=3)",
      "Config(a=1, a=1)",
      "Config(a=1, a=2)",
      "Config(a=1, 2)",
      "Config(a=1, b)",
      "Config(a=(1), b=2)",
      "Config(a=(1,), b=2)",
      "Config(a=(1, 2), b={'k': 1, 'k': 2})",
      "Config(a='x, b=1', b=\"it's\")",
      "Config(a='x\\', b=1', b=1)",
      "Config(a='\xff', b=1)",
      "Config(a='\xc3', b='\xa4')",
      "Config(\xc3\xa4=1, b='\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80')",
      std::string("Config(a='\0', b=1)", 18),
      "Config(a=1e999, b=-0.0, c=nan, d=-inf, e=9223372036854775807, f=1E5, g=.5, h=5.)",
      "helion.Config(a=1, b=2)",
      "Config(a=1, b=2) ",
      "Config(a=1)(b=2)",
      "Config(a=[1, 2), b=3]",
  };
  // The second round uses arguments that the first one has stored.
  for (int round = 0; round < 2; ++round) {
    for (const std::string& text : texts) {
      for (const char* keys : {"", R"(["b", "a"])"}) {
        EXPECT_EQ(formatter.Format(text, keys), Expected(text, keys)) << text;
      }
    }
  }
}

TEST(ConfigFormatter, RandomConfigsOfFewPiecesAreParsedAsAWhole) {
  ConfigFormatter formatter;
  std::mt19937 random(1);
  const std::vector<std::string> pieces = {"a=1", "b='x'", "c=[1, 2]", ", ", ",",      " ",
                                           "=",   "(",     ")",        "'",  "d=(3,)", "\\"};
  for (int i = 0; i < 20000; ++i) {
    std::string text = "Config(";
    for (int count = static_cast<int>(random() % 7); count > 0; --count) text += pieces[random() % pieces.size()];
    text += ")";
    EXPECT_EQ(formatter.Format(text, R"(["c", "b"])"), Expected(text, R"(["c", "b"])")) << text;
  }
}

// With work in proportion to the square of the number of arguments, this takes minutes.
TEST(ConfigFormatter, ManyArgumentsAreFormattedInTimeInProportionToTheirNumber) {
  constexpr int kCount = 300'000;
  std::vector<std::string> arguments;
  std::vector<std::string> keys;
  std::vector<std::string> members;
  for (int i = 0; i < kCount; ++i) {
    arguments.push_back(absl::StrCat("a", i, "=", i));
    keys.push_back(absl::StrCat("\"a", kCount - 1 - i, "\""));
    members.push_back(absl::StrCat("\"a", kCount - 1 - i, "\": ", kCount - 1 - i));
  }
  const std::string keys_json = absl::StrCat("[", absl::StrJoin(keys, ", "), "]");
  const std::string expected = absl::StrCat("{", absl::StrJoin(members, ", "), "}");
  const std::string joined = absl::StrJoin(arguments, ", ");
  ConfigFormatter formatter;
  EXPECT_EQ(formatter.Format(absl::StrCat("Config(", joined, ")"), keys_json), expected);
  EXPECT_EQ(formatter.Format(absl::StrCat("Config( ", joined, ")"), keys_json), expected) << "parsed as a whole";
}

TEST(ConfigFormatter, MoreArgumentsThanItStoresAreFormatted) {
  ConfigFormatter formatter;
  const std::string padding(1000, 'x');
  for (int i = 0; i < 10000; ++i) {
    const std::string text = absl::StrCat("Config(a='", padding, i, "', b=", i, ")");
    const std::string keys = absl::StrCat(R"(["none)", i % 3, R"(", "b"])");
    ASSERT_EQ(formatter.Format(text, keys), absl::StrCat(R"({"b": )", i, R"(, "a": ")", padding, i, R"("})"));
  }
}

}  // namespace
}  // namespace telemetry::exporter::render
