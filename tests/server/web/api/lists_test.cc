// Tests the lists of runs and kernels, their filters, orders and pages, and the overview.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/server/web/web_sample.h"

namespace telemetry::web::api {
namespace {

using storage::RunId;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ListTest : public ::testing::Test {
 protected:
  ListTest() { SendSample(&story_); }

  // Returns the first digits of the runs of a list.
  std::string Runs(const std::string& query) {
    std::string runs;
    for (const std::string& run : story_.AllPages(absl::StrCat("runs?limit=2", query), "run_id")) runs += run[1];
    return runs;
  }

  WebStory story_;
};

TEST_F(ListTest, FiltersRuns) {
  EXPECT_EQ(Runs("&sort=rows"), "cba");
  EXPECT_EQ(Runs("&sort=rows&kernel=softmax"), "ba");
  EXPECT_EQ(Runs("&kernel=rms_norm"), "c");
  EXPECT_EQ(Runs("&sort=rows&hardware=NVIDIA+H200"), "ca");
  EXPECT_EQ(Runs("&sort=rows&sender=ci"), "cb");
  EXPECT_EQ(Runs("&sender="), "a");
  EXPECT_EQ(Runs("&origin=ci/1"), "a");  // of an attempt other than the newest
  EXPECT_EQ(Runs("&algorithm=random"), "a");
  EXPECT_EQ(Runs("&state=open"), "a");
  EXPECT_EQ(Runs("&sort=rows&shapes=[(4096,+2560)]&dtypes=['torch.float16']"), "cba");
  EXPECT_EQ(Runs("&since=1"), Runs(""));
  EXPECT_EQ(Runs("&until=1"), "");
  EXPECT_EQ(Runs("&kernel=unknown"), "");
  EXPECT_EQ(Runs("&q=RMS"), "c");
  EXPECT_EQ(Runs("&q=a100"), "b");
  EXPECT_EQ(Runs("&q=aaaa"), "a");
  EXPECT_EQ(Runs("&q=ci/"), "");  // the origin of the newest attempt only
  EXPECT_EQ(story_.Value("runs?kernel=softmax", "total"), "2");
}

TEST_F(ListTest, SortsRunsWithUnknownValuesLast) {
  EXPECT_EQ(Runs("&sort=best"), "abc");
  EXPECT_EQ(Runs("&sort=-best"), "cba");
  EXPECT_EQ(Runs("&sort=-attempts&sender="), "a");
  EXPECT_EQ(Runs("&sort=-speedup").front(), 'a');
  EXPECT_EQ(Runs("&sort=spread").front(), 'a');  // the others have one attempt
  EXPECT_EQ(Runs("&sort=-spread").front(), 'a');
  EXPECT_EQ(Runs("&sort=-failed").front(), 'a');
  EXPECT_EQ(Runs("&sort=hardware").front(), 'b');
  EXPECT_EQ(story_.Code("runs?sort=none"), absl::StatusCode::kInvalidArgument);
}

TEST_F(ListTest, PagesContainEachRunOnce) {
  const std::string digits = "0123456789";
  for (const char digit : digits) {
    const char attempt = static_cast<char>('a' + (digit - '0'));
    story_.Send({storage::RunRecord(digit), storage::AttemptRecord(attempt, digit)});
  }
  story_.Refresh();
  for (const char* const column : {"kernel", "shapes", "hardware", "attempts", "rows", "best", "speedup", "spread",
                                   "noise", "failed", "last_received"}) {
    for (const char* const direction : {"", "-"}) {
      std::string runs = Runs(absl::StrCat("&sort=", direction, column));
      std::sort(runs.begin(), runs.end());
      EXPECT_EQ(runs, "0123456789abc") << direction << column;
    }
  }
}

TEST_F(ListTest, CountsFacets) {
  const auto facets = story_.Ask("facets");
  ASSERT_TRUE(facets.ok()) << facets.status();
  EXPECT_EQ(At(*facets, "kernel"), R"([{"label": "softmax", "filter": "softmax", "runs": 2}, )"
                                   R"({"label": "rms_norm", "filter": "rms_norm", "runs": 1}])");
  EXPECT_EQ(At(*facets, "sender"),
            R"([{"label": "ci", "filter": "ci", "runs": 2}, {"label": null, "filter": "null:", "runs": 1}])");
  EXPECT_EQ(At(*facets, "state"), R"([{"label": "unspecified", "filter": "unspecified", "runs": 2}, )"
                                  R"({"label": "open", "filter": "open", "runs": 1}])");
  // A facet is not limited by its own filter.
  EXPECT_EQ(story_.Value("facets?kernel=rms_norm", "kernel.1.runs"), "1");
  EXPECT_EQ(story_.Value("facets?kernel=rms_norm", "hardware"),
            R"([{"label": "NVIDIA H200", "filter": "NVIDIA H200", "runs": 1}])");
}

TEST_F(ListTest, ACellOfTheMatrixNamesTheRunWithItsBestTime) {
  const auto send = [&](char run, char attempt, double best_ms) {
    v1::Record record = storage::RunRecord(run);
    record.mutable_run()->set_kernel_name("matmul");
    record.mutable_run()->set_kernel_source(absl::StrCat("version ", std::string(1, run)));
    story_.Send({record, storage::AttemptRecord(attempt, run), storage::Row(attempt, 1, best_ms)});
  };
  send('1', 'P', 2);
  send('2', 'Q', 3);  // the newest
  v1::Record without_time = storage::RunRecord('3');
  without_time.mutable_run()->set_kernel_name("conv");
  story_.Send({without_time, storage::AttemptRecord('R', '3')});
  story_.Refresh();
  EXPECT_EQ(story_.Value("kernel?kernel=matmul", "cells.0.runs"), "2");
  EXPECT_EQ(story_.Value("kernel?kernel=matmul", "cells.0.best_ms"), "2");
  EXPECT_EQ(story_.Value("kernel?kernel=matmul", "cells.0.run_id"), absl::StrCat("\"", RunId('1'), "\""));
  EXPECT_EQ(story_.Value("kernel?kernel=conv", "cells.0.run_id"), absl::StrCat("\"", RunId('3'), "\""));
}

TEST_F(ListTest, ListsKernels) {
  const auto kernels = story_.Ask("kernels");
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  EXPECT_EQ(At(*kernels, "total"), "2");
  EXPECT_EQ(At(*kernels, "items.0.kernel.label"), "\"rms_norm\"");
  EXPECT_EQ(At(*kernels, "items.1.runs"), "2");
  EXPECT_EQ(At(*kernels, "items.1.attempts"), "3");
  EXPECT_EQ(At(*kernels, "items.1.rows"), "12");
  EXPECT_EQ(At(*kernels, "items.1.versions"), "1");
  EXPECT_EQ(At(*kernels, "items.1.shapes"), "1");
  EXPECT_EQ(At(*kernels, "items.1.devices"), "2");
  EXPECT_THAT(story_.AllPages("kernels?limit=1&sort=-rows", "kernel.label"),
              ElementsAre("\"softmax\"", "\"rms_norm\""));
  EXPECT_THAT(story_.AllPages("kernels?limit=1&q=SOFT", "kernel.label"), ElementsAre("\"softmax\""));
  EXPECT_THAT(story_.AllPages("kernels?limit=1&q=%25", "kernel.label"), IsEmpty());
}

TEST_F(ListTest, ShowsAKernel) {
  const auto kernel = story_.Ask("kernel?kernel=softmax");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ(At(*kernel, "shapes.0.shapes.label"), "\"[(4096, 2560)]\"");
  EXPECT_EQ(At(*kernel, "devices.0.label"), "\"NVIDIA A100\"");
  EXPECT_EQ(At(*kernel, "devices.1.label"), "\"NVIDIA H200\"");
  EXPECT_EQ(At(*kernel, "cells.0.best_ms"), "4");
  EXPECT_EQ(At(*kernel, "cells.0.sender"), "\"ci\"");
  EXPECT_EQ(At(*kernel, "cells.1.device"), "1");
  EXPECT_EQ(At(*kernel, "cells.1.best_ms"), "0.9");
  EXPECT_EQ(At(*kernel, "cells.1.default_ms"), "1.8");
  EXPECT_EQ(At(*kernel, "cells.1.speedup"), "2");
  EXPECT_EQ(At(*kernel, "cells.1.newest_best_ms"), "1.1");
  EXPECT_EQ(At(*kernel, "cells.1.step"), "null");
  EXPECT_EQ(At(*kernel, "cells.1.attempts"), "2");
  EXPECT_EQ(At(*kernel, "cells_left_out"), "0");
  EXPECT_EQ(At(*kernel, "versions.0.runs"), "2");
  EXPECT_EQ(At(*kernel, "versions.0.source_bytes"), "21");
  EXPECT_EQ(At(*kernel, "versions.0.source_lines"), "2");
  EXPECT_EQ(At(*kernel, "versions.1"), "(none)");
  const std::string version = At(*kernel, "versions.0.version");
  const std::string source = absl::StrCat("kernel/source?kernel=softmax&version=", version.substr(1, 16));
  EXPECT_EQ(story_.Value(source, "source"), R"("def softmax(x):\n  ...")");
  EXPECT_EQ(story_.Value(source, "truncated"), "false");
  EXPECT_EQ(story_.Code("kernel/source?kernel=softmax&version=0000000000000000"), absl::StatusCode::kNotFound);
  EXPECT_EQ(story_.Code("kernel?kernel=unknown"), absl::StatusCode::kNotFound);
  EXPECT_EQ(story_.Code("kernel"), absl::StatusCode::kInvalidArgument);
}

TEST_F(ListTest, ShowsTheHistoryOfAKernel) {
  const std::string series = "kernel/history?kernel=softmax&shapes=[(4096,+2560)]&dtypes=['torch.float16']&hardware=";
  const auto history = story_.Ask(series + "NVIDIA+H200");
  ASSERT_TRUE(history.ok()) << history.status();
  EXPECT_EQ(At(*history, "points.0.attempt_id"), absl::StrCat("\"", AttemptHex('A'), "\""));
  EXPECT_EQ(At(*history, "points.0.time_unix_ms"), "5000");
  EXPECT_EQ(At(*history, "points.0.best_ms"), "0.9");
  EXPECT_EQ(At(*history, "points.0.origin.label"), "\"ci/1\"");
  EXPECT_EQ(At(*history, "points.1.default_ms"), "2.2");
  EXPECT_EQ(At(*history, "points.2"), "(none)");
  EXPECT_EQ(At(*history, "points_left_out"), "0");
  EXPECT_EQ(story_.Value(series + "unknown", "points"), "[]");
  EXPECT_EQ(story_.Code("kernel/history?kernel=softmax"), absl::StatusCode::kInvalidArgument);
}

TEST_F(ListTest, ShowsTheOverview) {
  DatasetSizes sizes;
  sizes.configs = 12;
  sizes.bytes = 4096;
  sizes.tables = {{"measurements", 100}};
  story_.state().Set(sizes);
  story_.state().Set(std::vector<CollectorHealth>{{.address = "collector:4747", .state = "serving"}});
  const auto overview = story_.Ask("overview");
  ASSERT_TRUE(overview.ok()) << overview.status();
  EXPECT_EQ(At(*overview, "summaries"), R"({"complete": true, "done_attempts": 4, "total_attempts": 4})");
  EXPECT_EQ(At(*overview, "running.0.attempt_id"), absl::StrCat("\"", AttemptHex('B'), "\""));
  EXPECT_EQ(At(*overview, "running.0.best_ms"), "1.1");
  EXPECT_EQ(At(*overview, "running.0.elapsed_s"), "0.5");
  EXPECT_EQ(At(*overview, "running.1"), "(none)");
  EXPECT_EQ(At(*overview, "newest.0.run_id"), absl::StrCat("\"", RunId('c'), "\""));
  EXPECT_EQ(At(*overview, "newest.3"), "(none)");
  EXPECT_EQ(At(*overview, "regressions"), "[]");
  EXPECT_EQ(At(*overview, "activity.30"), "(none)");
  EXPECT_EQ(At(*overview, "sizes.runs"), "3");
  EXPECT_EQ(At(*overview, "sizes.attempts"), "4");
  EXPECT_EQ(At(*overview, "sizes.rows"), "13");
  EXPECT_EQ(At(*overview, "sizes.kernels"), "2");
  EXPECT_EQ(At(*overview, "sizes.configs"), "12");
  EXPECT_EQ(At(*overview, "sizes.tables"), R"([{"name": "measurements", "bytes": 100}])");
  EXPECT_EQ(At(*overview, "health.database"), story_.state().is_postgresql() ? "\"postgresql\"" : "\"sqlite\"");
  EXPECT_EQ(At(*overview, "health.collectors.0.state"), "\"serving\"");
  int64_t attempts = 0;
  int64_t rows = 0;
  int64_t failed = 0;
  std::set<std::string> days;
  for (const record::Json& day : overview->Find("activity")->items) {
    days.insert(At(day, "day"));
    attempts += std::stoll(At(day, "attempts"));
    rows += std::stoll(At(day, "rows"));
    failed += std::stoll(At(day, "failed"));
  }
  EXPECT_EQ(days.size(), 30U);
  EXPECT_EQ(attempts, 4);
  EXPECT_EQ(rows, 13);
  EXPECT_EQ(failed, 3);
}

}  // namespace
}  // namespace telemetry::web::api
