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

using ::testing::ElementsAre;
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

TEST_F(MigratorTest, LongTextsLeaveTheTablesThatAreSearched) {
  SqliteDatabase database = Open("v7.db");
  ASSERT_TRUE(database.Execute(ReadFile(absl::StrCat(TELEMETRY_GOLDEN, "/v7.sql")).c_str()).ok());
  const absl::Status filled = database.Execute(R"sql(
      INSERT INTO measurements (attempt, seq, timestamp_s, generation, status, config, failure)
      VALUES (1, 1, 0.5, 0, 1, 1, NULL), (1, 2, 0.5, 0, 1, 1, printf('%.512c', 'f')), (1, 3, 0.5, 0, 1, 1, printf('%.511c', 'f') || 'ä'),
             (2, 1, 0.5, 0, 1, 1, printf('%.1048576c', 'g'));
      INSERT INTO config_arguments (argument, text)
      VALUES (1, 'n=4'), (2, 'm=' || printf('%.898c', 'm')), (3, 'l=' || printf('%.899c', 'l'));
      INSERT INTO configs (config, config_id, arguments, unsplit_text)
      VALUES (1, 1, '[1,2]', NULL), (2, 2, '[3,1]', NULL), (3, 3, NULL, 'x'), (4, 4, NULL, NULL);
      INSERT INTO superseded_attempts (attempt_id, superseded_by, run, origin, sender)
      VALUES (zeroblob(16), zeroblob(16), 1, 'o', 2);
      INSERT INTO run_configs (run, config, key_list, sample_id, decorator, sender)
      VALUES (1, 2, 3, zeroblob(32), 'd', 4);
      INSERT INTO measurement_details (attempt, seq, stage, exact_perf_ms) VALUES (1, 2, 'final', 0.5);
      INSERT INTO ir_nodes (ir_graph, ordinal, id, graph_id, extra_json) VALUES (1, 2, 'n', 3, '{}');
      INSERT INTO ir_edges (ir_graph, ordinal, source, target, extra_json) VALUES (1, 2, 's', 't', '{}');)sql");
  ASSERT_TRUE(filled.ok()) << filled;
  const auto lines = [&database](const std::string& sql) {
    sql::Statement query(database, sql.c_str());
    std::vector<std::string> found;
    while (query.Step().value_or(false)) found.push_back(query.String(0));
    return found;
  };
  constexpr char kLengths[] =
      "SELECT attempt || ' ' || seq || ' ' || coalesce(length(CAST(failure AS BLOB)), 'NULL') FROM ";
  constexpr char kConfigs[] = "SELECT config || ' ' || coalesce(text, 'NULL') FROM config_texts ORDER BY config";
  const std::vector<std::string> texts = lines(kConfigs);
  ASSERT_TRUE(Migrate(database).ok());
  EXPECT_THAT(lines(absl::StrCat(kLengths, "measurements")), ElementsAre("1 1 NULL", "1 2 512", "1 3 0", "2 1 0"));
  EXPECT_THAT(lines(absl::StrCat(kLengths, "whole_measurements")),
              ElementsAre("1 1 NULL", "1 2 512", "1 3 513", "2 1 1048576"));
  EXPECT_EQ(lines(kConfigs), texts);
  EXPECT_THAT(lines("SELECT config || ' ' || coalesce(arguments, 'NULL') FROM configs ORDER BY config"),
              ElementsAre("1 [1,2]", "2 NULL", "3 NULL", "4 NULL"));
  EXPECT_THAT(lines("SELECT argument FROM config_arguments ORDER BY argument"), ElementsAre("1", "2"));
  EXPECT_THAT(lines("SELECT run || origin || sender FROM superseded_attempts"), ElementsAre("1o2"));
  EXPECT_THAT(lines("SELECT run || config || key_list || decorator || sender FROM run_configs"), ElementsAre("123d4"));
  EXPECT_THAT(lines("SELECT attempt || seq || stage || exact_perf_ms FROM measurement_details"),
              ElementsAre("12final0.5"));
  EXPECT_THAT(lines("SELECT ir_graph || ordinal || id || graph_id || extra_json FROM ir_nodes"), ElementsAre("12n3{}"));
  EXPECT_THAT(lines("SELECT ir_graph || ordinal || source || target FROM ir_edges"), ElementsAre("12st"));
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
