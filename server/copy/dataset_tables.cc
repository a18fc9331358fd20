#include "server/copy/dataset_tables.h"

#include <array>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "server/storage/sql/statement.h"
#include "server/storage/sqlite/migrator.h"
#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::copy {
namespace {

using storage::sql::Statement;
using storage::sqlite::SqliteDatabase;

constexpr std::string_view kMeasurements = "measurements";
constexpr bool kByInteger = true;
constexpr bool kAtOnce = false;
// Rows per read: for tables with texts of up to a MiB, and for all others.
constexpr int kLongRows = 32;
constexpr int kShortRows = 1000;

// The properties of a table that the schema does not contain.
struct Plan {
  const char* name;
  Owner owner;
  const char* key;
  bool has_integer_key;
  int rows_at_once = kShortRows;
};
constexpr std::array<Plan, 26> kPlans = {{
    {"dataset", Owner::kNone, "dataset_id", kAtOnce},
    {"senders", Owner::kNone, "sender", kByInteger},
    {"statuses", Owner::kNone, "status", kByInteger},
    {"config_arguments", Owner::kNone, "argument", kByInteger},
    {"configs", Owner::kNone, "config", kByInteger},
    {"key_lists", Owner::kNone, "key_list", kByInteger},
    {"kernels", Owner::kNone, "kernel", kByInteger, kLongRows},
    {"runs", Owner::kNone, "run", kByInteger},
    {"run_settings", Owner::kRun, "settings_json", kAtOnce},
    {"run_configs", Owner::kRun, "config", kByInteger},
    {"ir_graphs", Owner::kRun, "ir_graph", kByInteger, kLongRows},
    {"ir_nodes", Owner::kIrGraph, "ordinal", kByInteger},
    {"ir_edges", Owner::kIrGraph, "ordinal", kByInteger},
    {"attempts", Owner::kNone, "attempt", kByInteger},
    {"superseded_attempts", Owner::kNone, "attempt_id, superseded_by", kAtOnce},
    {"measurements", Owner::kAttempt, "seq", kByInteger},
    {"source_hashes", Owner::kAttempt, "seq", kByInteger},
    {"measurement_details", Owner::kAttempt, "seq", kByInteger},
    {"attempt_events", Owner::kAttempt, "seq", kByInteger, kLongRows},
    {"rejects", Owner::kNone, "reject", kByInteger, kLongRows},
    {"cache_senders", Owner::kNone, "cache_sender", kByInteger},
    {"cache_entries", Owner::kNone, "cache_entry", kByInteger, kLongRows},
    {"models", Owner::kNone, "model", kByInteger},
    {"model_parts", Owner::kNone, "model_part", kByInteger, kLongRows},
    {"served_time", Owner::kNone, "served_us", kByInteger},
    // Last, since the rows confirm that all others are present.
    {"producers", Owner::kNone, "producer_id", kAtOnce},
}};

const char* OwnerColumn(Owner owner) {
  switch (owner) {
    case Owner::kRun:
      return "run";
    case Owner::kAttempt:
      return "attempt";
    case Owner::kIrGraph:
      return "ir_graph";
    case Owner::kNone:
      break;
  }
  return "";
}

absl::StatusOr<ColumnType> ParseColumnType(std::string_view name) {
  constexpr std::pair<std::string_view, ColumnType> kTypes[] = {{"INTEGER", ColumnType::kInteger},
                                                                {"REAL", ColumnType::kReal},
                                                                {"TEXT", ColumnType::kText},
                                                                {"BLOB", ColumnType::kBytes}};
  for (const auto& [known, type] : kTypes) {
    if (known == name) return type;
  }
  return absl::InternalError(absl::StrCat("the schema has a column of the unknown type ", std::string(name)));
}

absl::StatusOr<DatasetTable> ReadTable(SqliteDatabase& schema, const Plan& plan) {
  DatasetTable table{.name = plan.name,
                     .source = plan.name == kMeasurements ? "whole_measurements" : plan.name,
                     .owner = plan.owner,
                     .owner_column = OwnerColumn(plan.owner),
                     .key = plan.key,
                     .has_integer_key = plan.has_integer_key,
                     .rows_at_once = plan.rows_at_once};
  if (table.name == "ir_graphs") {
    table.key_sequence = "ir_graph_keys";
  } else if (table.owner == Owner::kNone && table.has_integer_key && table.name != "served_time") {
    table.key_sequence = absl::StrCat(table.name, "_", table.key, "_seq");
  }
  Statement columns(schema, "SELECT name, type FROM pragma_table_info(?1) ORDER BY cid");
  columns.Bind(table.name);
  while (true) {
    ASSIGN_OR_RETURN(const bool row, columns.Step());
    if (!row) return table;
    ASSIGN_OR_RETURN(const ColumnType type, ParseColumnType(columns.Text(1)));
    table.columns.push_back({.name = std::string(columns.Text(0)), .type = type});
    if (table.name == kMeasurements && columns.Text(0) == "failure") {
      table.failure_column = static_cast<int>(table.columns.size()) - 1;
    }
  }
}

}  // namespace

std::string DatasetTable::ColumnNames() const {
  return absl::StrJoin(columns, ", ", [](std::string* out, const Column& column) { out->append(column.name); });
}

absl::StatusOr<std::vector<DatasetTable>> DatasetTables() {
  ASSIGN_OR_RETURN(SqliteDatabase schema, SqliteDatabase::Open(":memory:", {.vfs = {}}));
  RETURN_IF_ERROR(storage::sqlite::Migrate(schema));
  std::vector<DatasetTable> tables;
  for (const Plan& plan : kPlans) {
    ASSIGN_OR_RETURN(DatasetTable table, ReadTable(schema, plan));
    tables.push_back(std::move(table));
  }
  // The rows of `long_failures` are read with those of `measurements`.
  ASSIGN_OR_RETURN(const int64_t count, schema.QueryInt("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND "
                                                        "name NOT LIKE 'sqlite_%' AND name <> 'long_failures'"));
  if (count != static_cast<int64_t>(tables.size())) {
    return absl::InternalError("the schema has tables that are not copied");
  }
  return tables;
}

}  // namespace telemetry::copy
