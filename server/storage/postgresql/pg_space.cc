#include "server/storage/postgresql/pg_space.h"

#include "proto/base/status_macros.h"
#include "server/storage/sql/statement.h"

namespace telemetry::storage::postgresql {
namespace {

// A row has an item pointer of 4 bytes, a header of 24 bytes, and is aligned to 8 bytes. A piece of a long value
// occupies about 2 KiB. The indexes of a table are used as far as its rows.
constexpr char kSpace[] = R"sql(
WITH widths AS MATERIALIZED (
  SELECT tablename, sum(avg_width * (1 - null_frac)) AS width FROM pg_stats
  WHERE schemaname = current_schema() GROUP BY tablename
), files AS (
  SELECT
    coalesce(parent.relname, c.relname)::text AS name,
    pg_total_relation_size(c.oid) AS bytes,
    pg_relation_size(c.oid) AS row_file_bytes,
    coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0) AS long_bytes,
    pg_stat_get_live_tuples(c.oid) AS rows,
    pg_stat_get_live_tuples(c.reltoastrelid) AS long_rows,
    w.width
  FROM pg_class AS c
  LEFT JOIN widths AS w ON w.tablename = c.relname
  LEFT JOIN pg_inherits AS i ON i.inhrelid = c.oid
  LEFT JOIN pg_class AS parent ON parent.oid = i.inhparent
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
), shares AS (
  SELECT
    name, bytes, long_bytes, rows,
    CASE WHEN width IS NULL OR row_file_bytes = 0 THEN 1
         ELSE least(1, rows * (32 + width) / row_file_bytes) END AS used_share,
    CASE WHEN long_bytes = 0 THEN 1 ELSE least(1, long_rows * 2080.0 / long_bytes) END AS long_used_share
  FROM files
), used AS (
  SELECT name, bytes, rows, (bytes - long_bytes) * used_share + long_bytes * long_used_share AS used_bytes FROM shares
)
SELECT
  name,
  sum(bytes)::bigint,
  sum(used_bytes)::bigint,
  coalesce(sum(used_bytes) FILTER (WHERE rows > 0), 0)::bigint,
  sum(rows)::bigint
FROM used GROUP BY name ORDER BY name)sql";

}  // namespace

absl::StatusOr<std::vector<PgTableSpace>> ReadPgSpace(PgDatabase& database) {
  std::vector<PgTableSpace> tables;
  sql::Statement query(database, kSpace);
  while (true) {
    ASSIGN_OR_RETURN(const bool row, query.Step());
    if (!row) return tables;
    tables.push_back({.name = query.String(0),
                      .bytes = query.Int(1),
                      .used_bytes = query.Int(2),
                      .row_bytes = query.Int(3),
                      .rows = query.Int(4)});
  }
}

}  // namespace telemetry::storage::postgresql
