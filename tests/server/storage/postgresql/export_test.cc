// Tests exports from a PostgreSQL server whose connection is lost.

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/storage/postgresql/pg_database.h"
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

}  // namespace
}  // namespace telemetry::storage::postgresql
