#include "worker/model/cost_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/temp_folder.h"
#include "tests/worker/model/model_text.h"

namespace telemetry::worker::model {
namespace {

using ::testing::HasSubstr;

const std::string& Warps() {
  static const auto* const text = new std::string(TreeText("num_warps", 8, -1, 2, /*missing_goes_left=*/false));
  return *text;
}

std::vector<float> RowWith(std::string_view feature, float value) {
  std::vector<float> row(FeatureNames().size(), NAN);
  row[FeatureIndex(feature)] = value;
  return row;
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// Expects that trees with the right hash are rejected.
void ExpectRejected(const std::string& trees, const std::string& why) {
  const absl::StatusOr<CostModel> model = CostModel::Parse(ModelText(trees));
  ASSERT_FALSE(model.ok()) << why;
  EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(model.status().message()), HasSubstr(why));
}

TEST(CostModelTest, AddsTheLeavesOfAllTrees) {
  const auto model = CostModel::Parse(ModelText(Warps() + TreeText("num_stages", 3, 10, 20)));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->trees(), 2U);
  std::vector<float> row = RowWith("num_warps", 4);
  EXPECT_FLOAT_EQ(static_cast<float>(model->Predict(row)), 0.5F - 1 + 10);
  row = RowWith("num_warps", 8);  // not below the threshold
  row[FeatureIndex("num_stages")] = 3;
  EXPECT_FLOAT_EQ(static_cast<float>(model->Predict(row)), 0.5F + 2 + 20);
}

TEST(CostModelTest, AValueThatIsNotKnownGoesWhereTheTreeSays) {
  const auto left = CostModel::Parse(ModelText(TreeText("num_warps", 8, -1, 2, true)));
  const auto right = CostModel::Parse(ModelText(TreeText("num_warps", 8, -1, 2, false)));
  ASSERT_TRUE(left.ok() && right.ok());
  const std::vector<float> none(FeatureNames().size(), NAN);
  EXPECT_FLOAT_EQ(static_cast<float>(left->Predict(none)), -0.5F);
  EXPECT_FLOAT_EQ(static_cast<float>(right->Predict(none)), 2.5F);
  EXPECT_FLOAT_EQ(static_cast<float>(right->Predict({})), 2.5F) << "fewer features than expected are not known";
}

TEST(CostModelTest, RejectsTreesWhoseEvaluationWouldNotEndOrLeaveTheArrays) {
  ExpectRejected(Replaced(Warps(), "[1, -1, -1]", "[0, -1, -1]"), "not a later node");
  ExpectRejected(Replaced(Warps(), "[1, -1, -1]", "[100000000, -1, -1]"), "not a later node");
  ExpectRejected(Replaced(Warps(), "[1, -1, -1]", "[-5, -1, -1]"), "not a later node");
  ExpectRejected(Replaced(Warps(), "[1, -1, -1]", "[1.5, -1, -1]"), "not a later node");
  ExpectRejected(Replaced(Warps(), "[1, -1, -1]", "[-1, -1, -1]"), "not a later node");
  ExpectRejected(Replaced(Warps(), "[1, -1, -1]", "[1, 1, -1]"), "not a later node");
  ExpectRejected(Replaced(Warps(), absl::StrCat("[", FeatureIndex("num_warps"), ","), "[50000000,"),
                 "a feature that does not exist");
  ExpectRejected(Replaced(Warps(), absl::StrCat("[", FeatureIndex("num_warps"), ","), "[-7,"),
                 "a feature that does not exist");
}

TEST(CostModelTest, RejectsTreesThatAreNotTrees) {
  ExpectRejected(Replaced(Warps(), "[8, -1, 2]", "[8, -1]"), "differ in length");
  ExpectRejected(Replaced(Warps(), "[8, -1, 2]", "[8, -1, NaN]"), "finite");
  ExpectRejected(Replaced(Warps(), "[8, -1, 2]", "[8, -1, 1e999]"), "finite");
  ExpectRejected(Replaced(Warps(), "[8, -1, 2]", "[8, -1, 1e60]"), "finite");
  ExpectRejected(Replaced(Warps(), "[8, -1, 2]", R"([8, -1, "x"])"), "finite");
  ExpectRejected(Replaced(Warps(), "split_conditions", "something"), "missing");
  ExpectRejected("{}\n", "missing");
  ExpectRejected("[]\n", "missing");
  ExpectRejected("\n", "tree 0");
  ExpectRejected("", "no trees");
  ExpectRejected(Warps() + "{\"left_children\": [", "not a line");
  ExpectRejected(std::string(200'000, '[') + "\n", "tree 0");
  ExpectRejected(std::string(CostModel::kMostLineBytes + 1, ' ') + "\n", "too long");
}

TEST(CostModelTest, RejectsFilesThatAreDamagedOrForeign) {
  const std::string whole = ModelText(Warps());
  ASSERT_TRUE(CostModel::Parse(whole).ok());
  const auto why = [](const std::string& text) { return std::string(CostModel::Parse(text).status().message()); };
  EXPECT_THAT(why(""), HasSubstr("not a cost model"));
  EXPECT_THAT(why("hello\n"), HasSubstr("not a cost model"));
  EXPECT_THAT(why(R"({"learner": {"gradient_booster": {}}, "version": [1, 7, 6]})"), HasSubstr("not a cost model"));
  EXPECT_THAT(why(whole.substr(0, whole.size() / 2)), HasSubstr("not a cost model"));
  EXPECT_THAT(why(whole.substr(0, whole.size() - 10)), HasSubstr("damaged"));
  EXPECT_THAT(why(Replaced(whole, "8, -1, 2", "9, -1, 2")), HasSubstr("damaged"));
  EXPECT_THAT(why(Replaced(whole, "\"version\": 1,", "\"version\": 2,")), HasSubstr("format version 2"));
  EXPECT_THAT(why(ModelText(Warps(), kFeatureVersion + 1)), HasSubstr("of the features"));
  EXPECT_THAT(why(Replaced(whole, "\"num_warps\"", "\"num_worms\"")), HasSubstr("not those of this program"));
  EXPECT_THAT(why(Replaced(whole, "\"base\": 0.5", "\"base\": \"x\"")), HasSubstr("base"));
  EXPECT_THAT(why(std::string(CostModel::kMostBytes + 1, 'x')), HasSubstr("larger than 64 MiB"));
}

// Changes numbers of the trees at random and gives them the right hash, as an attacker can: each model is rejected or
// predicts a number.
TEST(CostModelTest, NoChangeOfTheTreesDoesHarm) {
  std::mt19937 random(1);
  std::string trees;
  for (int i = 0; i < 4; ++i) trees += TreeText("num_warps", 2 + i, -i, i) + TreeText("pid_type", i, 1, 2);
  std::vector<size_t> digits;
  for (size_t i = 0; i < trees.size(); ++i) {
    if (trees[i] >= '0' && trees[i] <= '9') digits.push_back(i);
  }
  const std::string values = "0123456789-";
  int accepted = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string changed = trees;
    for (int change = 0; change < 2; ++change) {
      changed[digits[random() % digits.size()]] = values[random() % values.size()];
    }
    const absl::StatusOr<CostModel> model = CostModel::Parse(ModelText(changed));
    if (!model.ok()) continue;
    ++accepted;
    EXPECT_TRUE(std::isfinite(model->Predict(RowWith("num_warps", 4)))) << changed;
  }
  EXPECT_GT(accepted, 50);
  EXPECT_LT(accepted, 800);
}

TEST(CostModelTest, AFileThatCannotBeReadIsNamed) {
  const TempFolder folder;
  const auto missing = CostModel::Load(folder.File("none"));
  EXPECT_TRUE(absl::IsNotFound(missing.status()));
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr(folder.File("none")));
  EXPECT_THAT(std::string(CostModel::Load(folder.path()).status().message()), HasSubstr("not a file"));
  EXPECT_FALSE(CostModel::Load("/dev/zero").ok());
  std::ofstream(folder.File("model")) << ModelText(Warps());
  EXPECT_TRUE(CostModel::Load(folder.File("model")).ok());
  std::filesystem::resize_file(folder.File("model"), CostModel::kMostBytes + 5);
  EXPECT_THAT(std::string(CostModel::Load(folder.File("model")).status().message()), HasSubstr("larger than"));
}

}  // namespace
}  // namespace telemetry::worker::model
