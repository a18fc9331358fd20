#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

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
  std::vector<ProducerStats> producers;         // most recently opened first
  // Arrival times of the first and the last attempt; nullopt: no attempts.
  std::optional<int64_t> oldest_unix_us;
  std::optional<int64_t> newest_unix_us;
  // Rows of the attempts that first arrived on that day (UTC, in days since 1970), newest first.
  std::map<int64_t, int64_t, std::greater<>> rows_by_day;
  int64_t database_bytes = 0;
  int64_t free_bytes = 0;  // the part of database_bytes in unused pages
  int64_t wal_bytes = 0;
};

// Counts the rows of a dataset, also while a collector serves it. Reads every measurement, in transactions of a few
// hundred attempts, so that the write-ahead log is not held back; rows that arrive in the meantime may be included in
// one number and not in another. Returns errors of OpenSqliteReader.
absl::StatusOr<DatasetStats> ReadStats(const std::string& path);

}  // namespace telemetry::storage::upkeep
