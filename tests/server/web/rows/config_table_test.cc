#include "server/web/rows/config_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "server/web/rows/knob_table.h"
#include "tests/server/web/web_story.h"

namespace telemetry::web::rows {
namespace {

using storage::AttemptRecord;
using storage::ConfigRecord;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(SplitArgumentTest, SplitsListsIntoTheirElements) {
  EXPECT_THAT(SplitArgument("num_warps=4"), ElementsAre(Pair("num_warps", "4")));
  EXPECT_THAT(SplitArgument("block_sizes=[16, 32]"),
              ElementsAre(Pair("block_sizes[0]", "16"), Pair("block_sizes[1]", "32")));
  EXPECT_THAT(SplitArgument("indexing='pointer'"), ElementsAre(Pair("indexing", "'pointer'")));
  EXPECT_THAT(SplitArgument("loop_orders=[[0, 1]]"), ElementsAre(Pair("loop_orders", "[[0, 1]]")));
  EXPECT_THAT(SplitArgument("flag=None"), ElementsAre(Pair("flag", "None")));
  EXPECT_THAT(SplitArgument("one=[1]"), ElementsAre(Pair("one", "[1]")));
}

TEST(SplitArgumentTest, ShowsOtherTextsAsTheyAre) {
  EXPECT_THAT(SplitArgument("x=f(1)"), ElementsAre(Pair("x", "f(1)")));
  EXPECT_THAT(SplitArgument("no literal"), ElementsAre(Pair("no literal", "")));
  EXPECT_THAT(SplitArgument(""), ElementsAre(Pair("", "")));
  const auto settings = SplitArgument(absl::StrCat("x=\"", std::string(1 << 20, 'y'), "\""));
  ASSERT_EQ(settings.size(), 1U);
  EXPECT_LE(settings[0].second.size(), 100U);
}

// A dataset with configs 1 to 3.
class ConfigTableTest : public ::testing::Test {
 protected:
  std::vector<int64_t> SendConfigs(const std::vector<std::string>& texts) {
    std::vector<v1::Record> records = {AttemptRecord('A', 'a')};
    for (size_t i = 0; i < texts.size(); ++i) {
      if (!texts[i].empty()) records.push_back(ConfigRecord(i + 1, texts[i]));
      records.push_back(storage::Row('A', i + 1, 1, i + 1));
    }
    story_.Send(records);
    std::vector<int64_t> keys;
    for (size_t i = 0; i < texts.size(); ++i) {
      keys.push_back(
          std::stoll(story_.dataset().Query(absl::StrCat("SELECT config FROM configs WHERE config_id = ", i + 1))));
    }
    return keys;
  }

  WebStory story_;
};

TEST_F(ConfigTableTest, ReadsIdsAndArguments) {
  const auto keys = SendConfigs({"Config(num_warps=4, sizes=[16, 32])", "", "not a call"});
  const auto table = ConfigTable::Read(story_.database(), keys);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->Find(keys[0]).id, "0000000000000001");
  ASSERT_EQ(table->Find(keys[0]).arguments.size(), 2U);
  EXPECT_THAT(table->Argument(table->Find(keys[0]).arguments[1]),
              ElementsAre(Pair("sizes[0]", "16"), Pair("sizes[1]", "32")));
  EXPECT_EQ(table->Find(keys[1]).id, "0000000000000002");
  EXPECT_THAT(table->Find(keys[1]).arguments, IsEmpty());
  EXPECT_THAT(table->Find(keys[2]).arguments, IsEmpty());
  EXPECT_EQ(table->Find(999).id, "");
}

TEST_F(ConfigTableTest, ReadsMoreConfigsThanAStatementHas) {
  std::vector<std::string> texts;
  for (int i = 0; i < 1100; ++i) texts.push_back(absl::StrCat("Config(x=", i, ")"));
  const auto keys = SendConfigs(texts);
  const auto table = ConfigTable::Read(story_.database(), keys);
  ASSERT_TRUE(table.ok()) << table.status();
  const auto knobs = FindKnobs(*table, keys, 10);
  ASSERT_EQ(knobs.size(), 1U);
  EXPECT_EQ(knobs[0].values.size(), 1100U);
  EXPECT_EQ(knobs[0].values[1099].text, "1099");
}

TEST_F(ConfigTableTest, ReadsAPartOfAVeryLongConfig) {
  std::string text = "Config(";
  for (int i = 0; i < 5000; ++i) absl::StrAppend(&text, i == 0 ? "" : ", ", "k", i, "=1");
  const auto keys = SendConfigs({text + ")"});
  const auto table = ConfigTable::Read(story_.database(), keys);
  ASSERT_TRUE(table.ok()) << table.status();
  const auto& arguments = table->Find(keys[0]).arguments;
  EXPECT_GT(arguments.size(), 300U);
  EXPECT_LT(arguments.size(), 5000U);
  for (size_t i = 0; i < arguments.size(); ++i) {
    EXPECT_THAT(table->Argument(arguments[i]), ElementsAre(Pair(absl::StrCat("k", i), "1")));
  }
}

TEST_F(ConfigTableTest, FindsKnobsWithTheirValues) {
  const auto keys = SendConfigs({"Config(n=16, s='b')", "Config(n=4, s='a')", "Config(n=16, only=1)"});
  const auto table = ConfigTable::Read(story_.database(), keys);
  const auto knobs = FindKnobs(*table, keys, 10);
  ASSERT_EQ(knobs.size(), 3U);
  EXPECT_EQ(knobs[0].name, "n");
  EXPECT_TRUE(knobs[0].is_number);
  EXPECT_EQ(knobs[0].values[0].text, "4");
  EXPECT_EQ(knobs[0].values[1].number, std::optional(16.0));
  EXPECT_THAT(knobs[0].value_of, ElementsAre(1, 0, 1));
  EXPECT_EQ(knobs[0].CountValues(), 2U);
  EXPECT_EQ(knobs[1].name, "only");
  EXPECT_THAT(knobs[1].value_of, ElementsAre(Knob::kAbsent, Knob::kAbsent, 0));
  EXPECT_EQ(knobs[1].CountValues(), 2U);
  EXPECT_EQ(knobs[2].name, "s");
  EXPECT_FALSE(knobs[2].is_number);
  EXPECT_THAT(knobs[2].value_of, ElementsAre(1, 0, Knob::kAbsent));
  EXPECT_EQ(FindKnobs(*table, keys, 2).size(), 2U);
}

}  // namespace
}  // namespace telemetry::web::rows
