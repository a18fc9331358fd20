#include "worker/tune/suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/temp_folder.h"
#include "worker/tune/suite_runner.h"

namespace telemetry::worker::tune {
namespace {

using testing::HasSubstr;

std::string MistakeIn(const std::string& text) {
  const absl::StatusOr<Suite> suite = ParseSuite(text);
  EXPECT_FALSE(suite.ok()) << text;
  return std::string(suite.status().message());
}

TEST(SuiteTest, SaysWhatToTuneAndHow) {
  const absl::StatusOr<Suite> suite = ParseSuite(R"({
    "devices": ["cuda:0", "cuda:1"], "effort": "quick",
    "kernels": [
      {"kernel": "softmax", "args": ["x=64x128:f16"], "effort": "full", "settings": {"static_shapes": false}},
      {"kernel": "add"}]})");
  ASSERT_TRUE(suite.ok()) << suite.status();
  EXPECT_THAT(suite->devices, testing::ElementsAre("cuda:0", "cuda:1"));
  EXPECT_EQ(suite->effort, search::Effort::kQuick);
  ASSERT_EQ(suite->entries.size(), 2u);
  EXPECT_EQ(suite->entries[0].kernel->name, "softmax");
  EXPECT_EQ(suite->entries[0].problem.ToString(), "x=64x128:f16");
  EXPECT_EQ(suite->entries[0].effort, search::Effort::kFull);
  EXPECT_FALSE(suite->entries[0].settings->static_shapes);
  EXPECT_EQ(suite->entries[1].problem.ToString(), kernels::DefaultProblem(*suite->entries[1].kernel).ToString());
}

TEST(SuiteTest, MistakesSayWhereTheyAre) {
  EXPECT_THAT(MistakeIn(R"({"kernels": [{"kernel": "add"}, {"kernel": "sofmax"}]})"),
              testing::AllOf(HasSubstr("[1].kernel"), HasSubstr("softmax")));
  EXPECT_THAT(MistakeIn(R"({"kernels": [{"kernel": "add", "arg": []}]})"),
              testing::AllOf(HasSubstr("unknown key 'arg'"), HasSubstr("args")));
  EXPECT_THAT(MistakeIn(R"({"kernels": [{"kernel": "add", "args": ["x=axb"]}]})"), HasSubstr("[0].args"));
  EXPECT_THAT(MistakeIn(R"({"kernels": [{"kernel": "add", "effort": "some"}]})"), HasSubstr("quick"));
  EXPECT_THAT(MistakeIn(R"({"kernels": [{"kernel": ["add"]}]})"), HasSubstr("[0].kernel: expected a string"));
  EXPECT_THAT(MistakeIn(R"({"kernels": []})"), HasSubstr("nothing to tune"));
  EXPECT_THAT(MistakeIn("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(MistakeIn("{"), testing::Not(testing::IsEmpty()));
}

TEST(SuiteTest, AnEntryCanBeASpecification) {
  const TempFolder folder;
  std::ofstream(folder.File("suite.json")) << R"({"kernels": [{"spec": "kernels/conv.json", "effort": "full"}]})";
  const absl::StatusOr<Suite> suite = ReadSuite(folder.File("suite.json"));
  ASSERT_TRUE(suite.ok()) << suite.status();
  EXPECT_EQ(suite->entries[0].kernel, nullptr);
  EXPECT_EQ(suite->entries[0].spec, folder.File("kernels/conv.json"));
  EXPECT_EQ(suite->entries[0].Name(), suite->entries[0].spec);
  EXPECT_THAT(MistakeIn(R"({"kernels": [{"spec": "a.json", "kernel": "add"}]})"),
              HasSubstr("[0]: a spec has neither a kernel nor args"));
}

TEST(SuiteTest, AFileThatIsNotThereIsNamed) {
  EXPECT_EQ(ReadSuite("/nowhere/suite.json").status().code(), absl::StatusCode::kNotFound);
}

TEST(SummaryTableTest, ADefaultConfigThatWasNotInTheFinalHasNoTime) {
  SuiteEntry entry;
  entry.kernel = kernels::FindKernel("add").value();
  entry.problem = kernels::DefaultProblem(*entry.kernel);
  TaskResult result;
  result.tuned.ranking.best = {codegen::Config(), 0.5};
  result.tuned.counters = {.configs_tested = 100, .deduplicated = 10, .filtered = 60};
  SuiteOutcome outcome = {.entry = &entry, .device = "cuda:0", .result = result};
  EXPECT_THAT(SummaryTable({outcome}), testing::ContainsRegex("0\\.5000 +- +- +30 "));
  outcome.result->tuned.ranking.default_perf_ms = 1;
  EXPECT_THAT(SummaryTable({outcome}), testing::ContainsRegex("0\\.5000 +1\\.0000 +2\\.00x +30 "));
}

}  // namespace
}  // namespace telemetry::worker::tune
