// Tests the creation and the migration of the schema.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "server/storage/postgresql/pg_database.h"
#include "server/storage/postgresql/pg_migrator.h"
#include "server/storage/postgresql/postgresql_store.h"
#include "tests/server/storage/dataset_story.h"
#include "tests/server/storage/test_dataset.h"

namespace telemetry::storage::postgresql {
namespace {

using ::testing::HasSubstr;

class PgMigrateTest : public ::testing::Test {
 protected:
  std::unique_ptr<PgDatabase> Open() { return *PgDatabase::Open(dataset_->db()); }

  const std::unique_ptr<TestDataset> dataset_ = NewPostgresqlDataset();
};

TEST_F(PgMigrateTest, TenCollectorsThatStartAtOnceMakeOneDataset) {
  constexpr int kCollectors = 10;
  std::vector<std::string> ids(kCollectors);
  std::vector<std::thread> collectors;
  for (std::string& id : ids) {
    collectors.emplace_back([this, &id] {
      const absl::StatusOr<std::unique_ptr<StoreWriter>> writer = OpenPostgresqlWriter(dataset_->db());
      EXPECT_TRUE(writer.ok()) << writer.status();
      if (writer.ok()) id = (*writer)->dataset_id();
    });
  }
  for (std::thread& collector : collectors) collector.join();
  EXPECT_EQ(ids.front().size(), 16u);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 1u);
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM dataset"), "1");
}

TEST_F(PgMigrateTest, RowsAreSpreadOverSixteenPartitions) {
  ASSERT_TRUE(MigratePg(*Open(), absl::Now()).ok());
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM pg_inherits WHERE inhparent = 'measurements'::regclass"), "16");
}

TEST_F(PgMigrateTest, ANewerSchemaIsRefused) {
  ASSERT_TRUE(MigratePg(*Open(), absl::Now()).ok());
  ASSERT_TRUE(Open()->Execute("INSERT INTO schema_versions VALUES (1000, 'of the future', 0)").ok());
  const absl::Status status = MigratePg(*Open(), absl::Now());
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("version 1000"));
  EXPECT_TRUE(absl::IsFailedPrecondition(OpenPostgresqlReader(dataset_->db()).status()));
}

TEST_F(PgMigrateTest, ADatabaseOfSomebodyElseIsLeftAlone) {
  ASSERT_TRUE(Open()->Execute("CREATE TABLE their_own (x integer)").ok());
  const absl::Status status = OpenPostgresqlWriter(dataset_->db()).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), "1");
}

TEST_F(PgMigrateTest, AMigrationThatFailsLeavesNothing) {
  const sql::Migration migrations[] = {{1, "good", "CREATE TABLE good (x integer)"}, {2, "bad", "CREATE TABLE bad ("}};
  const absl::Status status = MigratePg(*Open(), absl::Now(), migrations);
  EXPECT_THAT(std::string(status.message()), HasSubstr("migration bad"));
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), "0");
}

TEST_F(PgMigrateTest, WhatWasThereBeforeSendersHadRunsOfTheirOwnIsReadAndGoneOnWith) {
  const absl::Span<const sql::Migration> first = EmbeddedPgMigrations().first(1);
  ASSERT_TRUE(MigratePg(*Open(), absl::Now(), first).ok());
  const absl::Status filled = Open()->Execute(R"sql(
      INSERT INTO senders (name) VALUES ('owner');
      INSERT INTO kernels (name, content_sha256) VALUES ('softmax', '');
      INSERT INTO runs (run_id, kernel) SELECT repeat('a', 64), kernel FROM kernels;
      INSERT INTO attempts (attempt_id, run, origin, dialect, state, provisional, first_received_unix_us, sender)
      SELECT repeat('x', 16)::bytea, run, '', '', 'open', 0, 0, sender FROM runs, senders;
      INSERT INTO config_arguments (text) VALUES ('n=4');
      INSERT INTO configs (config_id, arguments) SELECT 7, '[' || argument || ']' FROM config_arguments;
      INSERT INTO statuses (name) VALUES ('ok');
      INSERT INTO measurements (run, attempt, seq, timestamp_s, generation, status, perf_ms, config)
      SELECT run, attempt, 1, 0.25, 0, status, 0.5, config FROM attempts, statuses, configs)sql");
  ASSERT_TRUE(filled.ok()) << filled;
  ASSERT_TRUE(MigratePg(*Open(), absl::Now()).ok());
  const auto text = [this] { return ExportText(**OpenPostgresqlReader(dataset_->db())); };
  for (const char* part : {"softmax", "Config(n=4)", "perf_ms: 0.5"}) EXPECT_THAT(text(), HasSubstr(part));
  // The owner sends all records again, and one more row.
  const std::unique_ptr<StoreWriter> writer = *OpenPostgresqlWriter(dataset_->db());
  const std::string producer(16, 'p');
  ASSERT_TRUE(writer->OpenProducers({{producer, 1, "test", "owner"}})->front().status.ok());
  const std::vector<v1::Record> records = {AttemptRecord('x', 'a'), ConfigRecord(7, "Config(n=4)"), Row('x', 1, 0.5),
                                           Row('x', 2, 0.125)};
  ProducerBatch batch = {.producer_id = producer, .epoch = 1, .first_seq = 1};
  AddRecords(records, &batch);
  const auto outcomes = writer->CommitBatches({batch});
  ASSERT_TRUE(outcomes.ok()) << outcomes.status();
  EXPECT_TRUE(outcomes->front().refused.empty()) << outcomes->front().refused.front().message;
  EXPECT_THAT(text(), HasSubstr("perf_ms: 0.125"));
  EXPECT_THAT(text(), HasSubstr("softmax"));
}

TEST_F(PgMigrateTest, AnEmptyDatabaseIsNoDatasetToRead) {
  EXPECT_TRUE(absl::IsFailedPrecondition(OpenPostgresqlReader(dataset_->db()).status()));
}

TEST_F(PgMigrateTest, WhatCannotBeReachedIsSaidWithoutThePassword) {
  const absl::Status nowhere = OpenPostgresqlWriter("postgresql://someone:sesame@127.0.0.1:1/dataset").status();
  EXPECT_TRUE(absl::IsUnavailable(nowhere)) << nowhere;
  EXPECT_EQ(nowhere.ToString().find("sesame"), std::string::npos) << nowhere;
  const absl::Status missing = OpenPostgresqlWriter(dataset_->db() + "&dbname=not_there").status();
  EXPECT_TRUE(absl::IsNotFound(missing)) << missing;
}

}  // namespace
}  // namespace telemetry::storage::postgresql
