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

namespace telemetry::storage {

// Who sent what is being stored. Several tables look at it; the writer sets it for each batch.
class CurrentSender {
 public:
  // 0: it came without a name.
  void Set(int64_t key) { key_ = key; }
  // The value of the columns runs.sender and configs.sender. 0: it came without a name.
  int64_t key() const { return key_; }
  // The value of the columns `sender` of other tables.
  std::optional<int64_t> column() const { return key_ == 0 ? std::nullopt : std::optional<int64_t>(key_); }
  // Whether what belongs to `owner` (0: to nobody) must not be changed.
  bool IsForeignTo(int64_t owner) const { return owner != 0 && owner != key_; }

 private:
  int64_t key_ = 0;
};

// Of a row that is not there yet.
inline constexpr char kForeignAttempt[] =
    "attempt_id names an attempt of another sender, and this would add to it: send it with a token of that name";
inline Refusal NotYours(std::string message) { return {v1::Reject::REASON_NOT_YOURS, std::move(message)}; }

// Table senders. Part of the writer: one thread, inside its transaction.
class SenderTable {
 public:
  explicit SenderTable(Database& database);

  // The key of a name; 0: the name is empty. A new name becomes a row.
  absl::StatusOr<int64_t> KeyOf(const std::string& name);
  // Without making a row; 0: not known.
  absl::StatusOr<int64_t> Find(const std::string& name);

  // Forgets what was remembered of the transaction that is not going to be committed.
  void Forget() { keys_.clear(); }

 private:
  ByteBoundedCache<std::string, int64_t> keys_{kSenderCacheBytes};
  Statement find_;
  Statement insert_;
};

}  // namespace telemetry::storage
