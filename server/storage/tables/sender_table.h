#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "server/storage/refusal.h"
#include "server/storage/sql/database.h"
#include "server/storage/sql/statement.h"
#include "server/storage/tables/byte_bounded_cache.h"
#include "server/storage/tables/cache_budgets.h"

namespace telemetry::storage::tables {

// The sender of the records that are being stored. The writer sets it for each batch; several tables read it.
class CurrentSender {
 public:
  // 0: a sender without a name
  void Set(int64_t key) { key_ = key; }
  // Returns the value for the columns runs.sender and configs.sender. 0: a sender without a name.
  int64_t key() const { return key_; }
  // Returns the value for the columns `sender` of other tables.
  std::optional<int64_t> column() const { return key_ == 0 ? std::nullopt : std::optional<int64_t>(key_); }
  // Returns whether the current sender must not change rows of `owner` (0: rows without an owner).
  bool IsForeignTo(int64_t owner) const { return owner != 0 && owner != key_; }

 private:
  int64_t key_ = 0;
};

// The refusal message for a row of another sender's attempt that is not stored yet.
inline constexpr char kForeignAttempt[] =
    "attempt_id names an attempt of another sender, and this would add to it: send it with a token of that name";
inline Refusal NotYours(std::string message) { return {v1::Reject::REASON_NOT_YOURS, std::move(message)}; }

// The table senders. Part of the writer: used by one thread, inside the writer's transaction.
class SenderTable {
 public:
  explicit SenderTable(sql::Database& database);

  // Returns the key of a name; 0 if the name is empty. Inserts a new name.
  absl::StatusOr<int64_t> FindOrInsertKey(const std::string& name);
  // Returns the key of a name without inserting it; 0: unknown.
  absl::StatusOr<int64_t> Find(const std::string& name);

  // Discards cached state of a transaction that will not be committed.
  void Forget() { keys_.clear(); }

 private:
  ByteBoundedCache<std::string, int64_t> keys_{kSenderCacheBytes};
  sql::Statement find_;
  sql::Statement insert_;
};

}  // namespace telemetry::storage::tables
