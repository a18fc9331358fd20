#include "server/storage/migrator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/storage/statement.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage {
namespace {

using ::testing::HasSubstr;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Schema(SqliteDatabase& database) {
  Statement query(database, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name");
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
  for (const Migration& migration : EmbeddedMigrations()) {
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
  const Migration broken[] = {{1, "0001_broken", "CREATE TABLE t (x); CREATE TABLE t (x);"}};
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
}  // namespace telemetry::storage
