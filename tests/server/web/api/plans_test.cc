// Tests that the answers find the rows of the dataset by its indexes, however large it is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "server/storage/sql/statement.h"
#include "server/storage/sqlite/scratch_file.h"
#include "server/web/api/endpoints.h"
#include "server/web/summary/refresher.h"
#include "server/web/summary/summary_schema.h"
#include "tests/server/web/plan_recorder.h"
#include "tests/server/web/web_sample.h"

namespace telemetry::web::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Returns whether a statement may read all rows: those of the tables that the lists of an operator filter and order,
// the few names of statuses, and keys in the statement itself.
bool MayBeRead(const std::string& scan) {
  const std::map<std::string, std::string> whole = {
      {"r", "FROM rejects AS r"},       {"rejects", "FROM rejects"},   {"p", "FROM producers AS p"},
      {"e", "FROM cache_entries AS e"}, {"c", "FROM cache_entries"},   {"cache_entries", "FROM cache_entries"},
      {"producers", "FROM producers"},  {"statuses", "FROM statuses"}, {"k", "FROM (VALUES ("}};
  const auto found = whole.find(scan.substr(5, scan.find_first_of(" :", 5) - 5));
  return found != whole.end() && absl::StrContains(scan, found->second);
}

// Calls of every endpoint, with {run} and {attempt} in them.
std::vector<std::string> Calls() {
  const std::string run = "runs/{run}";
  std::vector<std::string> calls = {"overview", "runs", "runs?q=soft&sort=kernel", "facets", run};
  for (const char* part : {"/convergence", "/knobs", "/points", "/statuses", "/finals", "/graphs", "/graphs/device",
                           "/configs/0000000000000002", "/rows", "/rows?sort=-perf&config_id=0000000000000002",
                           "/rows?status=ok&limit=1", "/rows?sender=", "/rows?attempt={attempt}"}) {
    calls.push_back(absl::StrCat(run, part));
  }
  for (const char* call :
       {"attempts/{attempt}", "attempts/{attempt}/events", "compare?item=run:{run}&item=attempt:{attempt}",
        "compare?item=device:NVIDIA H200&item=device:NVIDIA A100&kernel=softmax", "kernels", "kernel?kernel=softmax",
        "kernel/history?kernel=softmax&shapes=[(4096, 2560)]&dtypes=['torch.float16']&hardware=NVIDIA H200",
        "regressions", "rejects", "rejects?sender=ci&origin=x", "rejects/1", "producers", "producers?q=test", "cache",
        "cache?q=x", "cache/1", "tokens"}) {
    calls.emplace_back(call);
  }
  return calls;
}

class PlansTest : public ::testing::Test {
 protected:
  PlansTest() { SendSample(&story_); }

  WebStory story_;
};

TEST_F(PlansTest, NoCallReadsAWholeTable) {
  PlanRecorder recorder(story_.database());
  for (const std::string& call : Calls()) {
    const std::string target =
        absl::StrReplaceAll(call, {{"{run}", storage::RunId('a')}, {"{attempt}", AttemptHex('A')}, {" ", "%20"}});
    const auto answer = story_.Ask(target, recorder);
    EXPECT_TRUE(answer.ok() || absl::IsNotFound(answer.status())) << target << ": " << answer.status();
  }
  EXPECT_GT(recorder.statements(), 50U);
  std::vector<std::string> scans = recorder.scans();
  std::erase_if(scans, MayBeRead);
  EXPECT_THAT(scans, IsEmpty());
}

TEST_F(PlansTest, TheSummariesReadNoWholeTableOfRows) {
  PlanRecorder recorder(story_.database());
  const auto scratch = storage::sqlite::ScratchFile::Create("", summary::kSummarySchema);
  ASSERT_TRUE(scratch.ok()) << scratch.status();
  const auto writer = (*scratch)->OpenWriter().value();
  summary::Refresher refresher(recorder, *writer);
  ASSERT_TRUE(refresher.Refresh().ok());
  std::vector<std::string> scans = recorder.scans();
  std::erase_if(scans, MayBeRead);
  EXPECT_THAT(scans, ElementsAre(HasSubstr("SELECT count(*) FROM attempts")));
}

TEST_F(PlansTest, TheRecorderFindsScans) {
  PlanRecorder recorder(story_.database());
  const storage::sql::Statement all(recorder, "SELECT count(*) FROM measurements AS m WHERE m.perf_ms > 1");
  const storage::sql::Statement one(recorder, "SELECT perf_ms FROM measurements WHERE attempt = ?1 AND seq = ?2");
  EXPECT_THAT(recorder.scans(), ElementsAre(HasSubstr("SCAN m: SELECT count(*)")));
  EXPECT_FALSE(MayBeRead(recorder.scans().front()));
}

}  // namespace
}  // namespace telemetry::web::api
