#include "server/storage/postgresql/content_check.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/base/status_macros.h"
#include "server/storage/sql/statement.h"

namespace telemetry::storage::postgresql {
namespace {

// A reference of a table without foreign keys.
struct Reference {
  const char* table;
  const char* parent;
  const char* columns;  // of both tables, separated by spaces
};

constexpr Reference kReferences[] = {
    {"run_settings", "runs", "run"},
    {"run_configs", "runs", "run"},
    {"run_configs", "configs", "config"},
    {"run_configs", "key_lists", "key_list"},
    {"run_configs", "senders", "sender"},
    {"measurements", "attempts", "run attempt"},
    {"measurements", "statuses", "status"},
    {"measurements", "configs", "config"},
    {"source_hashes", "attempts", "run attempt"},
    {"measurement_details", "attempts", "run attempt"},
    {"attempt_events", "attempts", "run attempt"},
    {"ir_graphs", "runs", "run"},
    {"ir_graphs", "senders", "sender"},
    {"ir_nodes", "ir_graphs", "run ir_graph"},
    {"ir_edges", "ir_graphs", "run ir_graph"},
};

// Retention deletes the rows of a removed attempt a few at a time.
constexpr char kNotRemoved[] = " AND NOT EXISTS (SELECT 1 FROM removed_attempts AS r WHERE r.attempt = c.attempt)";

// Other connections plan for few rows and find each by its key. Here a table is joined with all of another one.
constexpr char kPlanForAllRows[] =
    "SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on; SET LOCAL plan_cache_mode = force_custom_plan";

absl::Status CheckReference(PgDatabase& database, const Reference& reference, std::vector<std::string>* damage) {
  std::string same;
  std::string is_set;
  for (const absl::string_view column : absl::StrSplit(reference.columns, ' ')) {
    absl::StrAppend(&same, same.empty() ? "" : " AND ", "p.", column, " = c.", column);
    absl::StrAppend(&is_set, is_set.empty() ? "" : " AND ", "c.", column, " IS NOT NULL");
  }
  const std::string sql = absl::StrCat("SELECT count(*) FROM ", reference.table, " AS c WHERE ", is_set,
                                       " AND NOT EXISTS (SELECT 1 FROM ", reference.parent, " AS p WHERE ", same, ")",
                                       std::string_view(reference.parent) == "attempts" ? kNotRemoved : "");
  ASSIGN_OR_RETURN(const int64_t orphans, database.QueryInt(sql.c_str()));
  if (orphans > 0) {
    damage->push_back(absl::StrCat(orphans, " rows of ", reference.table, " reference a row of ", reference.parent,
                                   " that does not exist"));
  }
  return absl::OkStatus();
}

absl::Status CheckReferences(PgDatabase& database, std::vector<std::string>* damage) {
  RETURN_IF_ERROR(database.Execute(kPlanForAllRows));
  for (const Reference& reference : kReferences) {
    RETURN_IF_ERROR(CheckReference(database, reference, damage));
  }
  return absl::OkStatus();
}

// A sequence, and the column whose keys come from it.
struct KeySequence {
  std::string sequence, table, column;
};

absl::StatusOr<std::vector<KeySequence>> FindKeySequences(PgDatabase& database) {
  std::vector<KeySequence> found = {{"ir_graph_keys", "ir_graphs", "ir_graph"}};
  sql::Statement query(database,
                       "SELECT s.relname::text, t.relname::text, a.attname::text FROM pg_class AS s "
                       "JOIN pg_depend AS d ON d.objid = s.oid AND d.deptype = 'i' "
                       "JOIN pg_class AS t ON t.oid = d.refobjid "
                       "JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid "
                       "WHERE s.relkind = 'S' AND s.relnamespace = current_schema()::regnamespace ORDER BY 1");
  while (true) {
    ASSIGN_OR_RETURN(const bool row, query.Step());
    if (!row) return found;
    found.push_back({query.String(0), query.String(1), query.String(2)});
  }
}

// A database that was put together from parts of different ages may have a sequence that is behind its table.
absl::Status CheckKeySequences(PgDatabase& database, std::vector<std::string>* damage) {
  ASSIGN_OR_RETURN(const std::vector<KeySequence> sequences, FindKeySequences(database));
  for (const KeySequence& keys : sequences) {
    const std::string sql =
        absl::StrCat("SELECT (SELECT coalesce(max(", keys.column, "), 0) FROM ", keys.table,
                     ") - (SELECT last_value - CASE WHEN is_called THEN 0 ELSE 1 END FROM ", keys.sequence, ")");
    ASSIGN_OR_RETURN(const int64_t behind, database.QueryInt(sql.c_str()));
    if (behind <= 0) continue;
    damage->push_back(absl::StrCat("the sequence ", keys.sequence, " is ", behind, " behind the largest key of ",
                                   keys.table, ": new rows get keys that exist"));
  }
  return absl::OkStatus();
}

absl::Status CheckFailures(PgDatabase& database, std::vector<std::string>* damage) {
  ASSIGN_OR_RETURN(const int64_t failures,
                   database.QueryInt("SELECT coalesce(max(checksum_failures), 0) FROM pg_stat_database "
                                     "WHERE datname = current_database()"));
  if (failures > 0) damage->push_back(absl::StrCat("the server has found ", failures, " pages with wrong checksums"));
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> CheckContent(PgDatabase& database) {
  std::vector<std::string> damage;
  for (auto* part : {&CheckReferences, &CheckKeySequences, &CheckFailures}) {
    absl::Status status = part(database, &damage);
    // The transaction has failed, and so would the other parts.
    if (!status.ok()) return damage.emplace_back(status.message()), damage;
  }
  return damage;
}

absl::StatusOr<bool> HasDataChecksums(PgDatabase& database) {
  ASSIGN_OR_RETURN(const int64_t on, database.QueryInt("SELECT (current_setting('data_checksums') = 'on')::int"));
  return on != 0;
}

}  // namespace telemetry::storage::postgresql
