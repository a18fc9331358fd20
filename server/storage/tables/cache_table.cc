#include "server/storage/tables/cache_table.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/tables/row_key.h"

namespace telemetry::storage::tables {
namespace {

// The number of entries whose age a transaction examines.
constexpr int kExpiredAtOnce = 64;

// Returns nullopt, which becomes NULL, for a field that was not set.
std::optional<std::string_view> TextOrNull(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}
std::optional<sql::Blob> BlobOrNull(const std::string& bytes) {
  return bytes.empty() ? std::nullopt : std::optional<sql::Blob>(sql::Blob{bytes});
}

}  // namespace

CacheTable::CacheTable(sql::Database& database)
    : database_(database),
      lock_senders_(database, {.text = "SELECT cache_sender, name, size_bytes FROM cache_senders ORDER BY cache_sender",
                               .lock = sql::RowLock::kUpdate}),
      find_sender_(database, {.text = "SELECT cache_sender, size_bytes FROM cache_senders",
                              .key = "name_sha256 = text_sha256(?1)",
                              .where = "name = ?1",
                              .lock = sql::RowLock::kUpdate}),
      insert_sender_(database,
                     "INSERT INTO cache_senders (name, size_bytes) VALUES (?1, 0) ON CONFLICT DO NOTHING "
                     "RETURNING cache_sender"),
      update_sender_(database, "UPDATE cache_senders SET size_bytes = ?2 WHERE cache_sender = ?1"),
      remove_sender_(database,
                     "DELETE FROM cache_senders WHERE cache_sender = ?1 AND NOT EXISTS "
                     "(SELECT 1 FROM cache_entries WHERE cache_sender = ?1)"),
      find_entry_(database,
                  "SELECT cache_entry, size_bytes FROM cache_entries "
                  "WHERE namespace = ?1 AND key = ?2 AND cache_sender = ?3"),
      read_entry_(database,
                  "SELECT stored_unix_us, CASE WHEN length(value) <= ?2 THEN value END FROM cache_entries "
                  "WHERE cache_entry = ?1"),
      insert_entry_(database,
                    "INSERT INTO cache_entries (cache_sender, namespace, key, stored_unix_us, size_bytes, attempt_id, "
                    "hardware, versions_json, value) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"),
      oldest_entry_(database,
                    "SELECT cache_entry, size_bytes FROM cache_entries WHERE cache_sender = ?1 "
                    "ORDER BY cache_entry LIMIT 1"),
      oldest_entries_(database,
                      "SELECT e.cache_entry, e.size_bytes, e.stored_unix_us, s.name FROM cache_entries AS e "
                      "JOIN cache_senders AS s ON s.cache_sender = e.cache_sender ORDER BY e.cache_entry LIMIT ?1"),
      remove_entry_(database, "DELETE FROM cache_entries WHERE cache_entry = ?1") {}

absl::StatusOr<std::vector<CachePutOutcome>> CacheTable::Store(absl::Span<const CachePut> puts,
                                                               const CacheBudget& budget, int64_t now_unix_us) {
  removals_left_ = kRemovalsAtOnce;
  removed_bytes_left_ = kRemovedBytesAtOnce;
  RETURN_IF_ERROR(ReadSenders());
  if (!is_counted_) {
    RETURN_IF_ERROR(CountBytes());
  }
  uint64_t expired = 0;
  if (budget.max_age != absl::InfiniteDuration()) {
    RETURN_IF_ERROR(RemoveExpired(now_unix_us - absl::ToInt64Microseconds(budget.max_age), &expired));
  }
  std::vector<CachePutOutcome> outcomes;
  outcomes.reserve(puts.size());
  for (const CachePut& put : puts) {
    ASSIGN_OR_RETURN(CachePutOutcome outcome, Put(put, budget, now_unix_us));
    outcomes.push_back(std::move(outcome));
  }
  if (!outcomes.empty()) outcomes.front().removed += expired;
  RETURN_IF_ERROR(WriteSenders());
  is_counted_ = true;
  return outcomes;
}

absl::Status CacheTable::ReadSenders() {
  senders_.clear();
  total_bytes_ = 0;
  lock_senders_.Reset();
  while (true) {
    const absl::StatusOr<bool> row = lock_senders_.Step();
    if (!row.ok() || !*row) return row.status();
    senders_[lock_senders_.String(1)] = {.key = lock_senders_.Int(0), .bytes = lock_senders_.Int(2)};
    total_bytes_ += lock_senders_.Int(2);
  }
}

absl::Status CacheTable::CountBytes() {
  sql::Statement count(database_,
                       "SELECT s.name, CAST(coalesce(sum(e.size_bytes), 0) AS bigint) FROM cache_senders AS s "
                       "LEFT JOIN cache_entries AS e ON e.cache_sender = s.cache_sender "
                       "GROUP BY s.cache_sender, s.name ORDER BY s.cache_sender");
  total_bytes_ = 0;
  while (true) {
    const absl::StatusOr<bool> row = count.Step();
    if (!row.ok() || !*row) return row.status();
    const auto sender = senders_.find(count.String(0));
    if (sender == senders_.end()) continue;  // another collector has inserted it meanwhile
    sender->second.is_changed |= sender->second.bytes != count.Int(1);
    sender->second.bytes = count.Int(1);
    total_bytes_ += count.Int(1);
  }
}

absl::StatusOr<CacheTable::Sender*> CacheTable::FindOrInsertSender(const std::string& name) {
  if (const auto found = senders_.find(name); found != senders_.end()) return &found->second;
  if (senders_.size() >= kMostSenders) return nullptr;
  ASSIGN_OR_RETURN(const int64_t key, KeyOfRow(find_sender_.Bind(name), insert_sender_.Bind(name)));
  // Another collector may have inserted the sender and put entries of it.
  RETURN_IF_ERROR(find_sender_.Bind(name).Step().status());
  Sender& sender = senders_[name];
  sender = {.key = key, .bytes = find_sender_.Int(1), .is_changed = true};
  find_sender_.Reset();
  total_bytes_ += sender.bytes;
  return &sender;
}

absl::Status CacheTable::RemoveExpired(int64_t oldest_unix_us, uint64_t* removed) {
  struct Expired {
    int64_t entry;
    int64_t bytes;
    std::string sender;
  };
  std::vector<Expired> expired;
  oldest_entries_.Bind(kExpiredAtOnce);
  while (true) {
    const absl::StatusOr<bool> row = oldest_entries_.Step();
    if (!row.ok()) return row.status();
    if (!*row || oldest_entries_.Int(2) >= oldest_unix_us) break;
    expired.push_back({oldest_entries_.Int(0), oldest_entries_.Int(1), oldest_entries_.String(3)});
  }
  oldest_entries_.Reset();
  for (const Expired& old : expired) {
    const auto sender = senders_.find(old.sender);
    if (sender == senders_.end()) continue;  // not locked: another collector has just inserted it
    RETURN_IF_ERROR(RemoveEntry(old.entry, sender->second, old.bytes));
    ++*removed;
  }
  return absl::OkStatus();
}

absl::StatusOr<CachePutOutcome> CacheTable::Put(const CachePut& put, const CacheBudget& budget, int64_t now_unix_us) {
  CachePutOutcome outcome;
  const v1::CacheEntry& entry = put.entry;
  const uint64_t size = CacheEntryBytes(entry);
  const uint64_t most = std::min(budget.of_sender(), budget.total_bytes);
  if (size > most) {
    outcome.status = absl::ResourceExhaustedError(
        absl::StrCat("the entry takes ", size, " bytes, and a sender may hold ", most,
                     " bytes in the cache: put a smaller value, or let the operator raise --cache-bytes"));
    return outcome;
  }
  ASSIGN_OR_RETURN(Sender* const sender, FindOrInsertSender(put.sender));
  if (sender == nullptr) {
    outcome.status = absl::ResourceExhaustedError(
        absl::StrCat("the cache already holds entries of ", kMostSenders, " senders, which is the limit"));
    return outcome;
  }
  find_entry_.Bind(entry.namespace_(), entry.key(), sender->key);
  ASSIGN_OR_RETURN(const bool is_replaced, find_entry_.Step());
  if (is_replaced) {
    const int64_t replaced = find_entry_.Int(0);
    const int64_t bytes = find_entry_.Int(1);
    find_entry_.Reset();
    RETURN_IF_ERROR(CheckCondition(put, replaced, now_unix_us, &outcome));
    if (outcome.kept.has_value()) return outcome;
    RETURN_IF_ERROR(RemoveEntry(replaced, *sender, bytes));
  }
  RETURN_IF_ERROR(MakeRoom(*sender, static_cast<int64_t>(size), budget, &outcome.removed));
  sender->bytes += static_cast<int64_t>(size);
  total_bytes_ += static_cast<int64_t>(size);
  sender->is_changed = true;
  RETURN_IF_ERROR(insert_entry_
                      .Bind(sender->key, entry.namespace_(), entry.key(), now_unix_us, size,
                            BlobOrNull(entry.attempt_id()), TextOrNull(entry.hardware()),
                            TextOrNull(entry.versions_json()), sql::Blob{entry.value()})
                      .Run());
  return outcome;
}

absl::Status CacheTable::CheckCondition(const CachePut& put, int64_t entry, int64_t now_unix_us,
                                        CachePutOutcome* outcome) {
  if (!put.condition.has_value()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const bool is_there, read_entry_.Bind(entry, kMaxConditionBytes).Step());
  if (!is_there) return absl::OkStatus();
  const int64_t age_us = now_unix_us - read_entry_.Int(0);
  const bool is_old = put.condition->max_age_us() > 0 && age_us > put.condition->max_age_us();
  const bool has_value = !read_entry_.IsNull(1);
  const auto& values = put.condition->values();
  const bool is_expected = has_value && std::find(values.begin(), values.end(), read_entry_.Bytes(1)) != values.end();
  if (!is_old && !is_expected) {
    v1::CacheEntry& kept = outcome->kept.emplace();
    kept.set_namespace_(put.entry.namespace_());
    kept.set_key(put.entry.key());
    kept.set_sender(put.sender);
    kept.set_stored_unix_us(read_entry_.Int(0));
    if (has_value) kept.set_value(std::string(read_entry_.Bytes(1)));
    outcome->kept_age_us = age_us;
  }
  read_entry_.Reset();
  return absl::OkStatus();
}

absl::Status CacheTable::MakeRoom(Sender& sender, int64_t size, const CacheBudget& budget, uint64_t* removed) {
  const auto of_sender = static_cast<int64_t>(budget.of_sender());
  const auto total = static_cast<int64_t>(budget.total_bytes);
  const auto may_remove = [this] { return removals_left_ > 0 && removed_bytes_left_ > 0; };
  while (sender.bytes > 0 && sender.bytes + size > of_sender && may_remove()) {
    RETURN_IF_ERROR(RemoveOldest(sender, removed));
  }
  while (total_bytes_ > 0 && total_bytes_ + size > total && may_remove()) {
    RETURN_IF_ERROR(RemoveOldest(FindHeaviest(sender), removed));
  }
  return absl::OkStatus();
}

CacheTable::Sender& CacheTable::FindHeaviest(Sender& preferred) {
  Sender* heaviest = &preferred;
  for (auto& [name, sender] : senders_) {
    const bool is_older = sender.bytes == heaviest->bytes && heaviest != &preferred && sender.key < heaviest->key;
    if (sender.bytes > heaviest->bytes || is_older) heaviest = &sender;
  }
  return *heaviest;
}

absl::Status CacheTable::RemoveOldest(Sender& sender, uint64_t* removed) {
  --removals_left_;
  const absl::StatusOr<bool> row = oldest_entry_.Bind(sender.key).Step();
  if (!row.ok()) return row.status();
  if (!*row) {
    total_bytes_ -= std::exchange(sender.bytes, 0);
    sender.is_changed = true;
    return absl::OkStatus();
  }
  const int64_t entry = oldest_entry_.Int(0);
  const int64_t bytes = oldest_entry_.Int(1);
  oldest_entry_.Reset();
  removed_bytes_left_ -= bytes;
  ++*removed;
  return RemoveEntry(entry, sender, bytes);
}

absl::Status CacheTable::RemoveEntry(int64_t entry, Sender& sender, int64_t bytes) {
  sender.bytes -= bytes;
  total_bytes_ -= bytes;
  sender.is_changed = true;
  return remove_entry_.Bind(entry).Run();
}

absl::Status CacheTable::WriteSenders() {
  for (const auto& [name, sender] : senders_) {
    if (!sender.is_changed) continue;
    RETURN_IF_ERROR(update_sender_.Bind(sender.key, sender.bytes).Run());
    if (sender.bytes > 0) continue;
    RETURN_IF_ERROR(remove_sender_.Bind(sender.key).Run());
  }
  return absl::OkStatus();
}

}  // namespace telemetry::storage::tables
