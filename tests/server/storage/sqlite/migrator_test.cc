#include "server/storage/sqlite/migrator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/storage/sql/statement.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage::sqlite {
namespace {

using ::testing::HasSubstr;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Schema(SqliteDatabase& database) {
  sql::Statement query(database, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name");
  std::string schema;
  while (query.Step().value_or(false)) absl::StrAppend(&schema, std::string(query.Text(0)), ";\n");
  return schema;
}

class MigratorTest : public ::testing::Test {
 protected:
  SqliteDatabase Open(const std::string& name) { return *SqliteDatabase::Open(folder_.File(name), {}); }

  TempFolder folder_;
};

TEST_F(MigratorTest, EveryOlderVersionBecomesTheNewest) {
  SqliteDatabase fresh = Open("fresh.db");
  ASSERT_TRUE(Migrate(fresh).ok());
  for (const sql::Migration& migration : EmbeddedMigrations()) {
    const std::string golden = ReadFile(absl::StrCat(TELEMETRY_GOLDEN, "/v", migration.number, ".sql"));
    ASSERT_FALSE(golden.empty()) << "no golden dump of version " << migration.number;
    SqliteDatabase old = Open(absl::StrCat("v", migration.number, ".db"));
    ASSERT_TRUE(old.Execute(golden.c_str()).ok());
    EXPECT_EQ(*SchemaVersion(old), migration.number);
    ASSERT_TRUE(Migrate(old).ok());
    EXPECT_EQ(Schema(old), Schema(fresh)) << "from version " << migration.number;
    EXPECT_EQ(*SchemaVersion(old), EmbeddedMigrations().back().number);
  }
}

TEST_F(MigratorTest, WhatWasThereBeforeSendersHadRunsOfTheirOwnIsReadAndGoneOnWith) {
  const std::string path = folder_.File("v4.db");
  {
    SqliteDatabase old = Open("v4.db");
    ASSERT_TRUE(old.Execute(ReadFile(absl::StrCat(TELEMETRY_GOLDEN, "/v4.sql")).c_str()).ok());
    const absl::Status filled = old.Execute(R"sql(
        INSERT INTO dataset VALUES (zeroblob(16), 0);
        INSERT INTO senders VALUES (1, 'owner');
        INSERT INTO kernels (kernel, name, content_sha256) VALUES (1, 'softmax', zeroblob(32));
        INSERT INTO runs (run, run_id, kernel) VALUES (1, printf('%.64c', 'a'), 1);
        INSERT INTO attempts (attempt, attempt_id, run, origin, dialect, state, provisional, first_received_unix_us, sender)
        VALUES (1, CAST(printf('%.16c', 'x') AS BLOB), 1, '', '', 'open', 0, 0, 1);
        INSERT INTO config_arguments VALUES (1, 'n=4');
        INSERT INTO configs VALUES (1, 7, '[1]', NULL);
        INSERT INTO statuses VALUES (1, 'ok');
        INSERT INTO measurements VALUES (1, 1, 0.25, 0, 1, 0.5, NULL, 1, NULL);
        INSERT INTO run_configs VALUES (1, 1, NULL, NULL, '@decorator', 1);)sql");
    ASSERT_TRUE(filled.ok()) << filled;
  }
  const std::unique_ptr<StoreWriter> writer = *OpenSqliteWriter(path);
  const auto text = [&path] { return ExportText(**OpenSqliteReader(path)); };
  const std::string before = text();
  for (const char* part : {"softmax", "Config(n=4)", "@decorator", "perf_ms: 0.5"})
    EXPECT_THAT(before, HasSubstr(part));
  // The owner sends all records again, and one more row.
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

TEST_F(MigratorTest, ANewerDatabaseIsRefusedNamingTheRemedy) {
  const std::string path = folder_.File("newer.db");
  ASSERT_TRUE(OpenSqliteWriter(path).ok());
  ASSERT_TRUE(Open("newer.db").Execute("PRAGMA user_version = 999").ok());
  for (const absl::Status& status : {OpenSqliteWriter(path).status(), OpenSqliteReader(path).status()}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("use a newer telemetry-collector"));
  }
}

TEST_F(MigratorTest, ADatabaseOfSomeoneElseIsLeftAlone) {
  const std::string path = folder_.File("other.db");
  ASSERT_TRUE(Open("other.db").Execute("CREATE TABLE t (x)").ok());
  const std::string before = ReadFile(path);
  EXPECT_TRUE(absl::IsFailedPrecondition(OpenSqliteWriter(path).status()));
  EXPECT_EQ(ReadFile(path), before);
}

TEST_F(MigratorTest, AFailedMigrationLeavesNothingBehind) {
  SqliteDatabase database = Open("broken.db");
  const sql::Migration broken[] = {{1, "0001_broken", "CREATE TABLE t (x); CREATE TABLE t (x);"}};
  EXPECT_FALSE(Migrate(database, broken).ok());
  EXPECT_EQ(Schema(database), "");
  EXPECT_EQ(*SchemaVersion(database), 0);
}

TEST_F(MigratorTest, AnOlderDatabaseIsNotReadBeforeItIsMigrated) {
  const std::string path = folder_.File("empty.db");
  ASSERT_TRUE(Open("empty.db").Execute("PRAGMA user_version = 0; VACUUM").ok());
  const absl::Status status = OpenSqliteReader(path).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("telemetry-collector migrate"));
}

}  // namespace
}  // namespace telemetry::storage::sqlite
