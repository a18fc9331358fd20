#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/database.h"
#include "server/storage/upkeep/device_stats.h"

namespace telemetry::storage::upkeep {

// A producer. `owner` is the name under whose token it sends; empty: none.
struct ProducerStats {
  std::string producer_id;  // 32 hex digits
  std::string client;
  std::string owner;
  int64_t committed_seq = 0;
  int64_t last_opened_unix_us = 0;
};

// The result of `telemetry-collector stats`.
struct DatasetStats {
  int64_t runs = 0;
  int64_t configs = 0;
  std::map<std::string, int64_t> attempts;      // by state
  std::map<std::string, int64_t> measurements;  // by status
  std::map<std::string, int64_t> rejects;       // by reason
  std::map<std::string, int64_t> cache_bytes;   // that the entries of the cache are charged for, by sender
  std::map<std::string, int64_t> model_bytes;   // of the files of complete cost models, by sender
  std::vector<ProducerStats> producers;         // most recently opened first
  // Arrival times of the first and the last attempt; nullopt: no attempts.
  std::optional<int64_t> oldest_unix_us;
  std::optional<int64_t> newest_unix_us;
  // Rows of the attempts that first arrived on that day (UTC, in days since 1970), newest first.
  std::map<int64_t, int64_t, std::greater<>> rows_by_day;
  DeviceStatsMap devices;
  int64_t database_bytes = 0;
  // The part of database_bytes in unused pages. On PostgreSQL, an estimate of the space of removed rows.
  int64_t free_bytes = 0;
  int64_t wal_bytes = 0;  // on PostgreSQL: of the whole server; 0 if the role may not see it
};

// Counts the rows of a dataset in any kind of database, also while collectors serve it: everything in `stats` except
// the sizes. Reads every measurement and its details, in transactions of a few hundred attempts, so that no writer is
// held back; rows that arrive in the meantime may be included in one number and not in another.
absl::Status CountContents(sql::Database& database, DatasetStats* stats);

// Return the counts and the sizes of a dataset in a SQLite file, or on a PostgreSQL server. Return errors of
// OpenSqliteReader or OpenPostgresqlReader.
absl::StatusOr<DatasetStats> ReadStats(const std::string& path);
absl::StatusOr<DatasetStats> ReadPgStats(const std::string& url);

}  // namespace telemetry::storage::upkeep
