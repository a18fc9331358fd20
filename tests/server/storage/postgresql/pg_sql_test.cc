#include "server/storage/postgresql/pg_sql.h"

#include <gtest/gtest.h>

#include <vector>

namespace telemetry::storage::postgresql {
namespace {

TEST(PgSql, ParametersAreNumberedAsPostgresqlDoes) {
  const PgSql sql = ToPgSql({.text = "SELECT a FROM t WHERE b = ?2 AND c > ?10 AND d = ?2"});
  EXPECT_EQ(sql.text, "SELECT a FROM t WHERE b = $2 AND c > $10 AND d = $2");
  EXPECT_EQ(sql.parameters, 10);
  EXPECT_EQ(sql.run_parameter, 0);
}

TEST(PgSql, KeysAndLocksAreRendered) {
  EXPECT_EQ(ToPgSql({.text = "SELECT a FROM t", .where = "b = ?1 ORDER BY a", .lock = sql::RowLock::kUpdate}).text,
            "SELECT a FROM t WHERE b = $1 ORDER BY a FOR UPDATE");
  EXPECT_EQ(ToPgSql({.text = "SELECT a FROM t", .key = "hash = text_sha256(?1)", .where = "b = ?1"}).text,
            "SELECT a FROM t WHERE hash = text_sha256($1) AND b = $1");
}

TEST(PgSql, TheRunIsOneParameterBehindTheOthers) {
  const PgSql sql = ToPgSql({.text = "DELETE FROM t", .key = sql::kInRun, .where = "a = ?1"});
  EXPECT_EQ(sql.text, "DELETE FROM t WHERE run = $2 AND a = $1");
  EXPECT_EQ(sql.parameters, 2);
  EXPECT_EQ(sql.run_parameter, 2);
}

TEST(PgSql, ABulkInsertIsAnInsertOfOneRowAndACopyOfMany) {
  const sql::BulkInsert insert = {
      .table = "rows", .columns = "seq, perf_ms", .in_run = true, .on_conflict_do_nothing = true};
  const PgSql sql = ToPgSql(insert);
  EXPECT_EQ(sql.text,
            "INSERT INTO rows (run, seq, perf_ms) OVERRIDING SYSTEM VALUE VALUES ($3, $1, $2) ON CONFLICT DO NOTHING");
  EXPECT_EQ(sql.run_parameter, 3);
  const PgCopy copy = ToPgCopy(insert);
  EXPECT_EQ(copy.table, "rows");
  EXPECT_EQ(copy.text, "COPY rows (run, seq, perf_ms) FROM STDIN (FORMAT binary)");
  EXPECT_EQ(copy.parameters, (std::vector<int>{3, 1, 2}));
}

TEST(PgSql, ATableThatIsNotPartitionedHasNoRunColumn) {
  const sql::BulkInsert insert = {.table = "rows", .columns = "seq, perf_ms"};
  EXPECT_EQ(ToPgSql(insert).text, "INSERT INTO rows (seq, perf_ms) OVERRIDING SYSTEM VALUE VALUES ($1, $2)");
  EXPECT_EQ(ToPgCopy(insert).parameters, (std::vector<int>{1, 2}));
}

}  // namespace
}  // namespace telemetry::storage::postgresql
