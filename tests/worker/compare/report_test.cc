#include "worker/compare/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/record/json.h"
#include "tests/worker/compare/attempt_builder.h"

namespace telemetry::worker::compare {
namespace {

using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::Not;
using ::testing::SizeIs;

Report ReportOf(const std::vector<RunSides>& runs) {
  const CompareOptions options;
  return {.base = "origin=main/*",
          .head = "origin=pr/12",
          .options = options,
          .runs = CompareRuns(runs, options),
          .remarks = {"gpu-2 is slow"}};
}

Report SampleReport() {
  return ReportOf({SidesOf(AttemptsOf(1, 6), AttemptsOf(1.05, 6), "softmax"),
                   SidesOf(AttemptsOf(1, 6), AttemptsOf(1, 6), "add"), SidesOf({}, AttemptsOf(1, 6), "mul"),
                   SidesOf(AttemptsOf(1, 6), AttemptsOf(1, 1), "exp")});
}

TEST(ReportTest, CountsVerdicts) {
  EXPECT_EQ(Summary(SampleReport()), "1 slower, 1 unsure, 1 same, 1 new of 4 runs");
  EXPECT_EQ(Summary(ReportOf({SidesOf({}, AttemptsOf(1, 6))})), "1 new of 1 run");
}

TEST(ReportTest, HasATable) {
  const std::string text = ToText(SampleReport());
  EXPECT_THAT(text, HasSubstr("softmax [(4096, 2560)] ['torch.float16'] NVIDIA H200 (6 and 6 attempts): slower\n"));
  EXPECT_THAT(text, HasSubstr("+5.0% (+4."));
  EXPECT_THAT(text, HasSubstr("unsure: 1 attempt of head; 3 are needed\n"));
  EXPECT_THAT(text, HasSubstr("note: gpu-2 is slow\n"));
}

TEST(ReportTest, HasMarkdown) {
  const std::string text = ToMarkdown(SampleReport());
  EXPECT_THAT(text, HasSubstr("### Kernel times: 1 slower, 1 unsure, 1 same, 1 new of 4 runs\n"));
  EXPECT_THAT(text, HasSubstr("**Some kernels are slower.**"));
  EXPECT_THAT(text, HasSubstr("<details><summary>3 without a change</summary>"));
  EXPECT_THAT(ToMarkdown(ReportOf({SidesOf(AttemptsOf(1, 6), AttemptsOf(1, 6))})), HasSubstr("Nothing is slower."));
}

TEST(ReportTest, MarkdownShowsHostileNamesAsText) {
  RunSides run = SidesOf(AttemptsOf(1, 6), AttemptsOf(1.05, 6), "<img src=x> | @everyone `x` [a](b)\n# head");
  const std::string text = ToMarkdown(ReportOf({run}));
  for (const char* const part : {"<img", "@everyone", "`x`", "[a]", "\n# head"}) {
    EXPECT_THAT(text, Not(HasSubstr(part))) << part;
  }
  EXPECT_THAT(text, HasSubstr("&#60;img src=x&#62; &#124; &#64;everyone"));
}

TEST(ReportTest, MarkdownFitsIntoAComment) {
  std::vector<RunSides> runs(300, SidesOf(AttemptsOf(1, 6), AttemptsOf(1.05, 6)));
  runs.resize(600, SidesOf(AttemptsOf(1, 6), AttemptsOf(1, 6)));
  const std::string text = ToMarkdown(ReportOf(runs));
  EXPECT_THAT(text, SizeIs(Lt(60000U)));
  EXPECT_THAT(text, HasSubstr(" runs are not shown.\n"));
  EXPECT_THAT(text, HasSubstr("</details>"));
}

TEST(ReportTest, HasJUnit) {
  const std::string text = ToJUnit(SampleReport());
  EXPECT_THAT(text, HasSubstr("tests=\"12\" failures=\"3\" errors=\"0\" skipped=\"6\""));
  EXPECT_THAT(text, HasSubstr("<failure type=\"slower\" message=\"slower; base 1 ms"));
  const RunSides hostile = SidesOf(AttemptsOf(1, 6), AttemptsOf(1, 6), "a<b>&\"c\"\x01\xEF\xBF\xBF");
  EXPECT_THAT(ToJUnit(ReportOf({hostile})), HasSubstr("classname=\"a&lt;b&gt;&amp;&quot;c&quot;  \""));
}

TEST(ReportTest, HasJson) {
  const absl::StatusOr<record::Json> json = record::ParseJson(ToJson(SampleReport()));
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ(json->Find("counts")->Find("slower")->text, "1");
  ASSERT_THAT(json->Find("runs")->items, SizeIs(4));
  const record::Json& time = json->Find("runs")->items[0].Find("times")->items[0];
  EXPECT_EQ(time.Find("verdict")->text, "slower");
  EXPECT_EQ(time.Find("base")->Find("attempts")->text, "6");
  EXPECT_NEAR(std::stod(time.Find("change")->Find("ratio")->text), 1.05, 1e-3);
  // Not finite: the smallest change that one attempt shows.
  EXPECT_EQ(json->Find("runs")->items[2].Find("times")->items[0].Find("verdict")->text, "new");
  EXPECT_TRUE(json->Find("runs")->items[2].Find("times")->items[0].Find("change")->is_null());
}

}  // namespace
}  // namespace telemetry::worker::compare
