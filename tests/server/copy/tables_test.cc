// Tests that the copied tables and columns are those of the schemas.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/copy/dataset_tables.h"
#include "server/storage/postgresql/pg_database.h"
#include "server/storage/postgresql/pg_migrator.h"
#include "server/storage/sql/statement.h"
#include "tests/server/storage/test_dataset.h"

namespace telemetry::copy {
namespace {

const char* TypeName(ColumnType type) {
  switch (type) {
    case ColumnType::kInteger:
      return "integer";
    case ColumnType::kReal:
      return "double precision";
    case ColumnType::kText:
      return "text";
    case ColumnType::kBytes:
      return "bytea";
  }
  return "";
}

// Returns "table.column type" of every column that PostgreSQL does not compute itself. The rows of removed attempts are
// not copied.
std::set<std::string> ColumnsOnTheServer(storage::sql::Database& database) {
  storage::sql::Statement columns(
      database,
      "SELECT table_name || '.' || column_name || ' ' || "
      "CASE WHEN data_type IN ('bigint', 'smallint') THEN 'integer' ELSE data_type END "
      "FROM information_schema.columns AS c JOIN pg_class AS t ON t.oid = to_regclass(c.table_name::text) "
      "WHERE table_schema = current_schema() AND t.relkind IN ('r', 'p') AND NOT t.relispartition "
      "AND is_generated = 'NEVER' AND table_name NOT IN ('schema_versions', 'removed_attempts')");
  std::set<std::string> names;
  while (true) {
    const absl::StatusOr<bool> row = columns.Step();
    EXPECT_TRUE(row.ok()) << row.status();
    if (!row.ok() || !*row) return names;
    names.emplace(columns.Text(0));
  }
}

TEST(DatasetTables, AreThoseOfBothSchemas) {
  const std::unique_ptr<storage::TestDataset> dataset = storage::NewPostgresqlDataset();
  const std::unique_ptr<storage::postgresql::PgDatabase> database =
      *storage::postgresql::PgDatabase::Open(dataset->db());
  ASSERT_TRUE(storage::postgresql::MigratePg(*database, absl::Now()).ok());
  // DatasetTables() reads the columns from SQLite's schema, so only PostgreSQL's must be compared.
  const absl::StatusOr<std::vector<DatasetTable>> tables = DatasetTables();
  ASSERT_TRUE(tables.ok()) << tables.status();
  std::set<std::string> copied;
  for (const DatasetTable& table : *tables) {
    if (table.HasRunBesides()) copied.insert(table.name + ".run integer");
    for (const Column& column : table.columns) {
      copied.insert(absl::StrCat(table.name, ".", column.name, " ", TypeName(column.type)));
    }
  }
  EXPECT_THAT(copied, testing::ContainerEq(ColumnsOnTheServer(*database)));
}

TEST(DatasetTables, EachSequenceOfTheServerBelongsToOne) {
  const std::unique_ptr<storage::TestDataset> dataset = storage::NewPostgresqlDataset();
  const std::unique_ptr<storage::postgresql::PgDatabase> database =
      *storage::postgresql::PgDatabase::Open(dataset->db());
  ASSERT_TRUE(storage::postgresql::MigratePg(*database, absl::Now()).ok());
  std::set<std::string> known;
  const absl::StatusOr<std::vector<DatasetTable>> tables = DatasetTables();
  ASSERT_TRUE(tables.ok()) << tables.status();
  for (const DatasetTable& table : *tables) {
    if (!table.key_sequence.empty()) known.insert(table.key_sequence);
  }
  std::set<std::string> there;
  storage::sql::Statement sequences(*database, "SELECT sequencename::text FROM pg_sequences");
  while (sequences.Step().value_or(false)) there.emplace(sequences.Text(0));
  EXPECT_THAT(known, testing::ContainerEq(there));
}

TEST(DatasetTables, ProducersComeLast) {
  // A producer's committed_seq confirms that all records before it are present.
  EXPECT_EQ((*DatasetTables()).back().name, "producers");
}

}  // namespace
}  // namespace telemetry::copy
