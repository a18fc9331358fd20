#include "server/web/upkeep/dataset_sizes.h"

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/status_macros.h"
#include "server/storage/sql/statement.h"
#include "server/storage/sql/transaction.h"

namespace telemetry::web::upkeep {
namespace {

using storage::sql::Database;
using storage::sql::Statement;

constexpr char kTables[] =
    "SELECT c.relname, coalesce((SELECT sum(pg_total_relation_size(t.relid)) FROM pg_partition_tree(c.oid) AS t), "
    "pg_total_relation_size(c.oid))::bigint FROM pg_class AS c WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition "
    "AND c.relnamespace = current_schema()::regnamespace ORDER BY 2 DESC, 1 LIMIT 50";

absl::Status ReadTables(Database& dataset, DatasetSizes* sizes) {
  Statement tables(dataset, kTables);
  while (true) {
    ASSIGN_OR_RETURN(const bool found, tables.Step());
    if (!found) return absl::OkStatus();
    sizes->tables.emplace_back(tables.String(0), tables.Int(1));
  }
}

}  // namespace

absl::StatusOr<DatasetSizes> CountSizes(Database& dataset, bool is_postgresql) {
  ASSIGN_OR_RETURN(const storage::sql::Transaction reading, storage::sql::Transaction::BeginRead(dataset));
  DatasetSizes sizes;
  ASSIGN_OR_RETURN(sizes.configs, dataset.QueryInt("SELECT count(*) FROM configs"));
  ASSIGN_OR_RETURN(sizes.graphs, dataset.QueryInt("SELECT count(*) FROM ir_graphs"));
  ASSIGN_OR_RETURN(sizes.rejects, dataset.QueryInt("SELECT count(*) FROM rejects"));
  ASSIGN_OR_RETURN(sizes.producers, dataset.QueryInt("SELECT count(*) FROM producers"));
  ASSIGN_OR_RETURN(sizes.cache_entries, dataset.QueryInt("SELECT count(*) FROM cache_entries"));
  Statement recent(dataset, "SELECT count(*) FROM rejects WHERE received_unix_us >= ?1");
  ASSIGN_OR_RETURN(const std::optional<int64_t> last_day,
                   recent.Bind(absl::ToUnixMicros(absl::Now() - absl::Hours(24))).QueryInt());
  sizes.rejects_last_day = last_day.value_or(0);
  ASSIGN_OR_RETURN(sizes.bytes,
                   dataset.QueryInt(is_postgresql ? "SELECT pg_database_size(current_database())"
                                                  : "SELECT page_count * page_size FROM pragma_page_count(), "
                                                    "pragma_page_size()"));
  if (is_postgresql) RETURN_IF_ERROR(ReadTables(dataset, &sizes));
  return sizes;
}

}  // namespace telemetry::web::upkeep
