// Tests exports from a PostgreSQL server whose connection is lost.

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/storage/postgresql/pg_database.h"
#include "server/storage/readers/dataset_reader.h"
#include "server/storage/readers/exporter.h"
#include "server/storage/readers/sql_reader.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage::postgresql {
namespace {

TEST(PgExportTest, AConnectionThatIsLostBetweenTwoStepsEndsTheExport) {
  DatasetStory story;
  story.Send({RunRecord('a'), AttemptRecord('p', 'a'), ConfigRecord(7, "Config(warps=4)"), Row('p', 0, 1.5)});
  absl::StatusOr<std::unique_ptr<PgDatabase>> database = PgDatabase::Open(story.path());
  ASSERT_TRUE(database.ok()) << database.status();
  const int session = PQbackendPID((*database)->connection().handle());
  readers::SqlReader reader(*std::move(database));
  readers::Exporter exporter({});
  ASSERT_TRUE(reader.Next(exporter).ok());
  ASSERT_EQ(story.Query(absl::StrCat("SELECT pg_terminate_backend(", session, ", 60000)")), "t");
  // The server may be another one by now, whose keys differ.
  const absl::StatusOr<ExportStep> step = reader.Next(exporter);
  EXPECT_TRUE(absl::IsUnavailable(step.status())) << step.status();
  readers::Exporter again({});
  EXPECT_TRUE(reader.Next(again).ok()) << "the reader itself has a new connection";
}

// The cost of a page of runs must not grow with the attempts of all others.
TEST(PgExportTest, APageOfRunsReadsNoAttemptsOfOthers) {
  constexpr int kRuns = 20'000;
  DatasetStory story;
  story.Send({RunRecord('a'), AttemptRecord('p', 'a'), ConfigRecord(7, "Config(warps=4)"), Row('p', 0, 1.5)});
  story.Query(
      absl::StrCat("INSERT INTO runs (run_id, kernel, input_shapes) SELECT encode(sha256(n::text::bytea), 'hex'), ",
                   "(SELECT min(kernel) FROM kernels), '[]' FROM generate_series(1, ", kRuns, ") AS n"));
  story.Query(
      "INSERT INTO attempts (attempt_id, run, origin, dialect, state, provisional, first_received_unix_us) "
      "SELECT decode(substr(run_id, 1, 32), 'hex'), run, '', '', 'complete', 0, 0 FROM runs WHERE input_shapes = '[]'");
  story.Query("ANALYZE");
  absl::StatusOr<std::unique_ptr<PgDatabase>> database = PgDatabase::Open(story.path());
  ASSERT_TRUE(database.ok()) << database.status();
  readers::DatasetReader reader(**database);
  v1::Filter filter;
  ASSERT_TRUE(reader.Runs(filter, {}, 8).ok());
  const absl::StatusOr<std::vector<readers::StoredRun>> runs = reader.Runs(filter, {}, 8);
  ASSERT_TRUE(runs.ok()) << runs.status();
  EXPECT_EQ(runs->size(), 8u);
  ASSERT_TRUE((*database)->connection().Execute("SELECT pg_stat_force_next_flush()").ok());
  EXPECT_EQ(story.Query("SELECT seq_tup_read < 1000 FROM pg_stat_user_tables WHERE relname = 'attempts'"), "t");
}

}  // namespace
}  // namespace telemetry::storage::postgresql
