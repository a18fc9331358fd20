#include "server/storage/readers/cache_reader.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/sql/statement.h"

namespace telemetry::storage::readers {
namespace {

constexpr int32_t kDefaultEntries = 100;
constexpr int32_t kMostEntries = 1000;
// A page ends with the entry that reaches this size.
constexpr size_t kMostPageBytes = size_t{1} << 20;
// Entries per query: a connection to PostgreSQL keeps all rows of a query in memory.
constexpr int kEntriesAtOnce = 64;

// Finds the newest entry of a key. ?3: stored at or after; ?4: hardware or ''; ?5: sender or ''.
constexpr char kNewest[] = R"sql(
SELECT e.cache_entry FROM cache_entries AS e JOIN cache_senders AS s ON s.cache_sender = e.cache_sender
WHERE e.namespace = ?1 AND e.key = ?2 AND e.stored_unix_us >= ?3 AND (?4 = '' OR e.hardware = ?4)
  AND (?5 = '' OR s.name = ?5)
ORDER BY e.cache_entry DESC LIMIT 1)sql";

// ?1: entries before this key; ?2: stored at or after; ?3 to ?6: namespace, prefix, hardware, sender, or ''; ?7: limit.
constexpr char kList[] = R"sql(
SELECT e.cache_entry, e.namespace, e.key, s.name, e.stored_unix_us, e.attempt_id, e.hardware, e.versions_json
FROM cache_entries AS e JOIN cache_senders AS s ON s.cache_sender = e.cache_sender
WHERE e.cache_entry < ?1 AND e.stored_unix_us >= ?2 AND (?3 = '' OR e.namespace = ?3)
  AND substr(e.key, 1, length(?4)) = ?4 AND (?5 = '' OR e.hardware = ?5) AND (?6 = '' OR s.name = ?6)
ORDER BY e.cache_entry DESC LIMIT ?7)sql";

constexpr char kOne[] = R"sql(
SELECT e.cache_entry, e.namespace, e.key, s.name, e.stored_unix_us, e.attempt_id, e.hardware, e.versions_json
FROM cache_entries AS e JOIN cache_senders AS s ON s.cache_sender = e.cache_sender WHERE e.cache_entry = ?1)sql";

v1::CacheEntry ReadCacheEntry(const sql::Statement& row) {
  v1::CacheEntry entry;
  entry.set_namespace_(row.String(1));
  entry.set_key(row.String(2));
  entry.set_sender(row.String(3));
  entry.set_stored_unix_us(row.Int(4));
  if (!row.IsNull(5)) entry.set_attempt_id(std::string(row.Bytes(5)));
  if (!row.IsNull(6)) entry.set_hardware(row.String(6));
  if (!row.IsNull(7)) entry.set_versions_json(row.String(7));
  return entry;
}

// Sets the value of an entry that the same transaction has found.
absl::Status ReadValue(sql::Statement& values, int64_t key, v1::CacheEntry* entry) {
  const absl::StatusOr<bool> row = values.Bind(key).Step();
  if (!row.ok()) return row.status();
  if (!*row) return absl::InternalError("an entry of the cache disappeared within a transaction");
  entry->set_value(std::string(values.Bytes(0)));
  values.Reset();
  return absl::OkStatus();
}

constexpr char kValue[] = "SELECT value FROM cache_entries WHERE cache_entry = ?1";

}  // namespace

absl::StatusOr<int64_t> CacheBytes(sql::Database& database) {
  return database.QueryInt("SELECT CAST(coalesce(sum(size_bytes), 0) AS bigint) FROM cache_senders");
}

absl::StatusOr<v1::CacheEntry> GetCacheEntry(sql::Database& database, const v1::GetCacheRequest& request,
                                             int64_t oldest_unix_us) {
  sql::Statement newest(database, kNewest);
  int64_t found = 0;
  const int senders = std::max(request.senders_size(), 1);
  for (int i = 0; i < senders; ++i) {
    const std::string sender = request.senders_size() == 0 ? "" : request.senders(i);
    newest.Bind(request.namespace_(), request.key(), oldest_unix_us, request.hardware(), sender);
    ASSIGN_OR_RETURN(const std::optional<int64_t> key, newest.QueryInt());
    found = std::max(found, key.value_or(0));
  }
  if (found == 0) return absl::NotFoundError("no such entry in the cache");
  sql::Statement one(database, kOne);
  RETURN_IF_ERROR(one.Bind(found).Step().status());
  v1::CacheEntry entry = ReadCacheEntry(one);
  sql::Statement value(database, kValue);
  RETURN_IF_ERROR(ReadValue(value, found, &entry));
  return entry;
}

absl::StatusOr<v1::ListCacheResponse> ListCacheEntries(sql::Database& database, const v1::ListCacheRequest& request,
                                                       int64_t oldest_unix_us) {
  int64_t before = std::numeric_limits<int64_t>::max();
  if (!request.page_token().empty() && !absl::SimpleAtoi(request.page_token(), &before)) {
    return absl::InvalidArgumentError("page_token was not issued by this service");
  }
  const int32_t size = request.page_size() <= 0 ? kDefaultEntries : std::min(request.page_size(), kMostEntries);
  const int64_t oldest = std::max(oldest_unix_us, request.since_unix_us());
  sql::Statement list(database, kList);
  sql::Statement value(database, kValue);
  v1::ListCacheResponse response;
  size_t bytes = 0;
  while (true) {
    list.Bind(before, oldest, request.namespace_(), request.key_prefix(), request.hardware(), request.sender(),
              kEntriesAtOnce);
    int rows = 0;
    for (; rows < kEntriesAtOnce; ++rows) {
      ASSIGN_OR_RETURN(const bool row, list.Step());
      if (!row) return response;
      if (response.entries_size() == size || bytes >= kMostPageBytes) {
        response.set_next_page_token(absl::StrCat(before));
        return response;
      }
      v1::CacheEntry entry = ReadCacheEntry(list);
      before = list.Int(0);
      if (request.values()) {
        RETURN_IF_ERROR(ReadValue(value, before, &entry));
      }
      bytes += entry.ByteSizeLong();
      *response.add_entries() = std::move(entry);
    }
  }
}

}  // namespace telemetry::storage::readers
