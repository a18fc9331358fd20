#include "tests/server/web/plan_recorder.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/storage/sql/statement.h"

namespace telemetry::web {
namespace {

constexpr int kDetail = 3;  // a column of EXPLAIN QUERY PLAN
constexpr size_t kShownBytes = 800;

}  // namespace

std::unique_ptr<storage::sql::PreparedStatement> PlanRecorder::Prepare(const storage::sql::StatementText& statement) {
  ++statements_;
  const std::string text = absl::StrCat("EXPLAIN QUERY PLAN ", statement.text);
  storage::sql::StatementText explained = statement;
  explained.text = text.c_str();
  const std::unique_ptr<storage::sql::PreparedStatement> plan = database_.Prepare(explained);
  while (true) {
    const absl::StatusOr<bool> found = plan->Step();
    EXPECT_TRUE(found.ok()) << found.status() << " in " << text;
    if (!found.ok() || !*found) break;
    const std::string step(plan->Text(kDetail));
    if (!absl::StartsWith(step, "SCAN ") || absl::StrContains(step, "CONSTANT ROW")) continue;
    scans_.push_back(absl::StrCat(step, ": ", std::string(statement.text).substr(0, kShownBytes)));
  }
  return database_.Prepare(statement);
}

std::unique_ptr<storage::sql::PreparedStatement> PlanRecorder::Prepare(const storage::sql::BulkInsert& insert) {
  return database_.Prepare(insert);
}

}  // namespace telemetry::web
