// Tests the creation and the migration of the schema.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
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

// Stores rows with the statements of a collector of the first released schema, each in a transaction of its own, until
// it is told to stop. The columns exist in all later schemas.
class FirstCollector {
 public:
  explicit FirstCollector(const std::string& db) : thread_([this, db] { Run(db); }) {
    while (stored_ < 20) absl::SleepFor(absl::Milliseconds(1));
  }
  ~FirstCollector() { Stop(); }

  // Blocks until `count` more rows are stored.
  void AwaitMore(int count) {
    for (const int wanted = stored_ + count; stored_ < wanted && !failed_;) absl::SleepFor(absl::Milliseconds(1));
  }
  // Returns the number of rows that it has stored.
  int Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return stored_;
  }
  absl::Duration longest() const { return longest_; }

 private:
  void Run(const std::string& db) {
    const std::unique_ptr<PgDatabase> database = *PgDatabase::Open(db);
    while (!stop_) {
      const absl::Time start = absl::Now();
      const absl::Status status = database->Execute(
          absl::StrCat("INSERT INTO measurements (run, attempt, seq, timestamp_s, generation, status, perf_ms, config) "
                       "SELECT run, attempt, ",
                       stored_ + 1, ", 0.25 * ", stored_ + 1,
                       ", 0, status, 0.5, config FROM attempts, statuses, configs")
              .c_str());
      if (absl::IsAborted(status)) continue;  // a collector tries again, too
      EXPECT_TRUE(status.ok()) << status;
      if (!status.ok()) {
        failed_ = true;
        stored_ += 20;  // ends the constructor
        return;
      }
      ++stored_;
      longest_ = std::max(longest_, absl::Now() - start);
    }
  }

  std::atomic<int> stored_ = 0;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> failed_ = false;
  absl::Duration longest_;
  std::thread thread_;
};

TEST_F(PgMigrateTest, AnOlderCollectorStoresRowsDuringTheMigrationFromEachSchema) {
  const absl::Span<const sql::Migration> all = EmbeddedPgMigrations();
  for (size_t released = 1; released < all.size(); ++released) {
    SCOPED_TRACE(absl::StrCat("schema ", released));
    const std::unique_ptr<TestDataset> dataset = NewPostgresqlDataset();
    const std::unique_ptr<PgDatabase> database = *PgDatabase::Open(dataset->db());
    ASSERT_TRUE(MigratePg(*database, absl::Now(), all.first(released)).ok());
    const absl::Status filled = database->Execute(R"sql(
        INSERT INTO kernels (name, content_sha256) VALUES ('softmax', '');
        INSERT INTO runs (run_id, kernel) SELECT repeat('a', 64), kernel FROM kernels;
        INSERT INTO attempts (attempt_id, run, origin, dialect, state, provisional, first_received_unix_us)
        SELECT repeat('x', 16)::bytea, run, '', '', 'open', 0, 0 FROM runs;
        INSERT INTO config_arguments (text) VALUES ('n=4');
        INSERT INTO configs (config_id, arguments) SELECT 7, '[' || argument || ']' FROM config_arguments;
        INSERT INTO statuses (name) VALUES ('ok'))sql");
    ASSERT_TRUE(filled.ok()) << filled;
    FirstCollector older(dataset->db());
    const absl::Time start = absl::Now();
    const std::unique_ptr<StoreWriter> newer = *OpenPostgresqlWriter(dataset->db());
    const absl::Duration migration = absl::Now() - start;
    // Both store rows of the same attempt.
    ASSERT_TRUE(newer->OpenProducer(std::string(16, 'p'), 1, "test").ok());
    const std::vector<v1::Record> own = {AttemptRecord('x', 'a'), ConfigRecord(7, "Config(n=4)"),
                                         Row('x', 1000000, 0.5)};
    ProducerBatch batch = {.producer_id = std::string(16, 'p'), .epoch = 1, .first_seq = 1};
    AddRecords(own, &batch);
    ASSERT_TRUE(newer->CommitBatches({batch})->front().refused.empty());
    older.AwaitMore(20);
    const int rows = older.Stop();
    std::cout << "schema " << released << ": migration " << migration << ", longest insertion of the older collector "
              << older.longest() << std::endl;
    EXPECT_EQ(dataset->Query("SELECT count(*) FROM measurements"), absl::StrCat(rows + 1));
    // The producers of the older collector send their rows again to the newer one: no row is stored twice.
    std::vector<v1::Record> again;
    for (int seq = 1; seq <= rows; ++seq) again.push_back(Row('x', static_cast<uint64_t>(seq), 0.5));
    batch = {.producer_id = std::string(16, 'p'), .epoch = 1, .first_seq = 4};
    AddRecords(again, &batch);
    const auto outcomes = newer->CommitBatches({batch});
    ASSERT_TRUE(outcomes.ok()) << outcomes.status();
    EXPECT_TRUE(outcomes->front().refused.empty());
    EXPECT_EQ(outcomes->front().known_rows, static_cast<uint64_t>(rows));
    EXPECT_EQ(dataset->Query("SELECT count(*) FROM measurements"), absl::StrCat(rows + 1));
  }
}

// This version is the older collector. The migration of the next version adds columns and a table.
TEST_F(PgMigrateTest, ARunningCollectorGoesOnAfterANewerOneAddedToTheSchema) {
  const std::unique_ptr<StoreWriter> writer = *OpenPostgresqlWriter(dataset_->db());
  const std::unique_ptr<StoreReader> reader = *OpenPostgresqlReader(dataset_->db());
  ASSERT_TRUE(writer->OpenProducer(std::string(16, 'p'), 1, "test").ok());
  uint64_t next_seq = 1;
  const auto send = [&](const std::vector<v1::Record>& records) {
    ProducerBatch batch = {.producer_id = std::string(16, 'p'), .epoch = 1, .first_seq = next_seq};
    AddRecords(records, &batch);
    const auto outcomes = writer->CommitBatches({batch});
    ASSERT_TRUE(outcomes.ok()) << outcomes.status();
    EXPECT_TRUE(outcomes->front().status.ok()) << outcomes->front().status;
    EXPECT_TRUE(outcomes->front().refused.empty());
    next_seq = outcomes->front().committed_seq + 1;
  };
  send({RunRecord('a'), AttemptRecord('x', 'a'), ConfigRecord(7, "Config(n=4)"), Row('x', 1, 0.5),
        DetailRecord('x', 1)});
  EXPECT_THAT(ExportText(*reader), HasSubstr("seq: 1"));
  std::vector<sql::Migration> next(EmbeddedPgMigrations().begin(), EmbeddedPgMigrations().end());
  next.push_back({next.back().number + 1, "additions",
                  "ALTER TABLE measurements ADD COLUMN added bigint NOT NULL DEFAULT 0; "
                  "ALTER TABLE attempts ADD COLUMN added text; ALTER TABLE runs ADD COLUMN added text; "
                  "ALTER TABLE measurement_details ADD COLUMN added double precision; CREATE TABLE more (x bigint)"});
  ASSERT_TRUE(MigratePg(*Open(), absl::Now(), next).ok());
  send({Row('x', 1, 0.5), Row('x', 2, 0.5), DetailRecord('x', 2), DetailRecord('x', 1), AttemptRecord('y', 'a'),
        Row('y', 1, 0.5)});
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM measurements"), "3");
  EXPECT_THAT(ExportText(*reader), HasSubstr("seq: 2"));
  // A collector of this version that is started now refuses the schema.
  EXPECT_TRUE(absl::IsFailedPrecondition(OpenPostgresqlWriter(dataset_->db()).status()));
}

// During a rolling upgrade a collector of the older version may crash, and its supervisor starts it again.
TEST_F(PgMigrateTest, AnOlderCollectorStartsOnANewerSchemaThatWorksWithIt) {
  const int known = EmbeddedPgMigrations().back().number;
  std::vector<sql::Migration> next(EmbeddedPgMigrations().begin(), EmbeddedPgMigrations().end());
  next.push_back({known + 1, "additions", "ALTER TABLE runs ADD COLUMN added text", known});
  ASSERT_TRUE(MigratePg(*Open(), absl::Now(), next).ok());
  const absl::StatusOr<std::unique_ptr<StoreWriter>> writer = OpenPostgresqlWriter(dataset_->db());
  ASSERT_TRUE(writer.ok()) << writer.status();
  EXPECT_TRUE((*writer)->OpenProducer(std::string(16, 'p'), 1, "test").ok());
  const absl::StatusOr<std::unique_ptr<StoreReader>> reader = OpenPostgresqlReader(dataset_->db());
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(*PgSchemaVersion(*Open()), known + 1);
  // A later migration ends this.
  next.push_back({known + 2, "removals", "ALTER TABLE runs DROP COLUMN added", known + 1});
  ASSERT_TRUE(MigratePg(*Open(), absl::Now(), next).ok());
  for (const absl::Status& status :
       {OpenPostgresqlWriter(dataset_->db()).status(), OpenPostgresqlReader(dataset_->db()).status()}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("schema version ", known + 2, ", but this program (")));
    EXPECT_THAT(std::string(status.message()), HasSubstr("use a newer telemetry-collector and telemetry-export"));
  }
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
