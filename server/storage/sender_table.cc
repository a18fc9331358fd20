#include "server/storage/sender_table.h"

namespace telemetry::storage {

SenderTable::SenderTable(Database& database)
    : database_(database),
      find_(database, "SELECT sender FROM senders WHERE name = ?1"),
      insert_(database, "INSERT INTO senders (name) VALUES (?1)") {}

absl::StatusOr<int64_t> SenderTable::Find(const std::string& name) {
  if (name.empty()) return 0;
  if (auto it = keys_.find(name); it != keys_.end()) return it->second;
  absl::StatusOr<bool> found = find_.Bind(name).Step();
  if (!found.ok()) return found.status();
  if (!*found) return 0;
  const int64_t key = find_.Int(0);
  find_.Reset();
  keys_.emplace(name, key);
  return key;
}

absl::StatusOr<int64_t> SenderTable::KeyOf(const std::string& name) {
  absl::StatusOr<int64_t> key = Find(name);
  if (!key.ok() || *key != 0 || name.empty()) return key;
  if (absl::Status status = insert_.Bind(name).Run(); !status.ok()) return status;
  return database_.last_insert_key();
}

}  // namespace telemetry::storage
