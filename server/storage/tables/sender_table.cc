#include "server/storage/tables/sender_table.h"

#include "proto/base/status_macros.h"
#include "server/storage/tables/row_key.h"

namespace telemetry::storage::tables {

SenderTable::SenderTable(sql::Database& database)
    : find_(database,
            {.text = "SELECT sender FROM senders", .key = "name_sha256 = text_sha256(?1)", .where = "name = ?1"}),
      insert_(database, "INSERT INTO senders (name) VALUES (?1) ON CONFLICT DO NOTHING RETURNING sender") {}

absl::StatusOr<int64_t> SenderTable::Find(const std::string& name) {
  if (name.empty()) return 0;
  if (auto it = keys_.find(name); it != keys_.end()) return it->second;
  ASSIGN_OR_RETURN(const std::optional<int64_t> key, find_.Bind(name).QueryInt());
  if (!key.has_value()) return 0;
  keys_.emplace(name, *key);
  return *key;
}

absl::StatusOr<int64_t> SenderTable::FindOrInsertKey(const std::string& name) {
  absl::StatusOr<int64_t> key = Find(name);
  if (!key.ok() || *key != 0 || name.empty()) return key;
  return KeyOfRow(find_.Bind(name), insert_.Bind(name));
}

}  // namespace telemetry::storage::tables
