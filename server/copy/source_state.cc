#include "server/copy/source_state.h"

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "server/copy/table_hash.h"

namespace telemetry::copy {
namespace {

// Returns true for small tables that every writer changes.
bool TellsOfChanges(const DatasetTable& table) {
  return table.name == "dataset" || table.name == "producers" || table.name == "served_time";
}

// Returns true for large tables whose row count changes.
bool IsCounted(const DatasetTable& table) {
  return table.name == "attempts" || table.name == "rejects" || table.name == "cache_entries" || table.name == "models";
}

}  // namespace

absl::StatusOr<std::string> SourceState(CopyPlace& source, const std::vector<DatasetTable>& tables) {
  std::string state;
  for (const DatasetTable& table : tables) {
    absl::StrAppend(&state, table.name, "(", table.ColumnNames(), ")");
    if (TellsOfChanges(table)) {
      ASSIGN_OR_RETURN(const TableHash hash, HashTable(source.database(), table));
      absl::StrAppend(&state, hash.sha256_hex);
    }
    if (IsCounted(table)) {
      ASSIGN_OR_RETURN(const int64_t rows,
                       source.database().QueryInt(absl::StrCat("SELECT count(*) FROM ", table.name).c_str()));
      absl::StrAppend(&state, rows);
    }
  }
  return record::Sha256Hex(state);
}

}  // namespace telemetry::copy
