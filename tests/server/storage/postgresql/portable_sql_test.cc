#include "server/storage/postgresql/portable_sql.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "server/storage/sql/gathered.h"
#include "server/storage/sql/partitions.h"

namespace telemetry::storage {
namespace {

TEST(PortableSql, ParametersAreNumberedAsPostgresqlDoes) {
  const PgSql sql = ToPgSql("SELECT a FROM t WHERE b = ?2 AND c > ?10 AND d = ?2");
  EXPECT_EQ(sql.text, "SELECT a FROM t WHERE b = $2 AND c > $10 AND d = $2");
  EXPECT_EQ(sql.parameters, 10);
  EXPECT_EQ(sql.run_parameter, 0);
}

TEST(PortableSql, ItsOwnCommentsAreOpenedAndOthersStay) {
  EXPECT_EQ(ToPgSql("SELECT a FROM t /* all */ WHERE b = ?1 /*postgresql FOR UPDATE */").text,
            "SELECT a FROM t /* all */ WHERE b = $1 FOR UPDATE ");
}

TEST(PortableSql, TheRunIsOneParameterBehindTheOthers) {
  const PgSql sql = ToPgSql("DELETE FROM t WHERE /*postgresql run = ?run AND */ a = ?1 /*postgresql AND ?run > 0 */");
  EXPECT_EQ(sql.text, "DELETE FROM t WHERE run = $2 AND  a = $1 AND $2 > 0 ");
  EXPECT_EQ(sql.parameters, 2);
  EXPECT_EQ(sql.run_parameter, 2);
}

TEST(PortableSql, AGatheredInsertIsACopyOfItsColumns) {
  const std::optional<PgCopy> copy =
      ToPgCopy(ToPgSql("INSERT " TELEMETRY_GATHERED "INTO rows (" TELEMETRY_RUN_COLUMN
                       "seq, perf_ms) VALUES (" TELEMETRY_RUN_VALUE "?1, ?2) ON CONFLICT DO NOTHING"));
  ASSERT_TRUE(copy.has_value());
  EXPECT_EQ(copy->table, "rows");
  EXPECT_EQ(copy->text, "COPY rows (run, seq, perf_ms) FROM STDIN (FORMAT binary)");
  EXPECT_EQ(copy->parameters, (std::vector<int>{3, 1, 2}));
  EXPECT_FALSE(ToPgCopy(ToPgSql("INSERT INTO rows (seq) VALUES (?1)")).has_value());
}

}  // namespace
}  // namespace telemetry::storage
