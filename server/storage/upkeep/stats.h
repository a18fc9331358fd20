#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace telemetry::storage {

// What is known of a producer. `owner`: under whose token it sends; empty: nobody's.
struct ProducerStats {
  std::string producer_id;  // 32 hex digits
  std::string client;
  std::string owner;
  int64_t committed_seq = 0;
  int64_t last_opened_unix_us = 0;
};

// What `telemetry-collector stats` tells.
struct DatasetStats {
  int64_t runs = 0;
  int64_t configs = 0;
  std::map<std::string, int64_t> attempts;      // by state
  std::map<std::string, int64_t> measurements;  // by status
  std::map<std::string, int64_t> rejects;       // by reason
  std::vector<ProducerStats> producers;         // who came last first
  // When the first and the last attempt came; nothing: there is none.
  std::optional<int64_t> oldest_unix_us;
  std::optional<int64_t> newest_unix_us;
  // Rows of the attempts that first came on that day (UTC, in days since 1970), newest first.
  std::map<int64_t, int64_t, std::greater<>> rows_by_day;
  int64_t database_bytes = 0;
  int64_t free_bytes = 0;  // of them: pages that nothing is in
  int64_t wal_bytes = 0;
};

// Counts, beside a collector that serves the file, too. It reads every measurement, in transactions of a few hundred
// attempts, so that the write-ahead log need not wait for it: what comes meanwhile may be in one number and not in
// another. Errors as OpenSqliteReader.
absl::StatusOr<DatasetStats> ReadStats(const std::string& path);

}  // namespace telemetry::storage
