#include "server/storage/upkeep/stats.h"

#include <filesystem>
#include <memory>
#include <system_error>

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "server/storage/postgresql/pg_database.h"
#include "server/storage/postgresql/pg_migrator.h"
#include "server/storage/postgresql/pg_space.h"
#include "server/storage/sql/statement.h"
#include "server/storage/sqlite/dataset_file.h"

namespace telemetry::storage::upkeep {
namespace {

// Each query is a transaction of its own that takes a few milliseconds.
constexpr int kAttemptsAtOnce = 200;
constexpr int64_t kMicrosADay = int64_t{86400} * 1000000;

// Calls `use` for each row of a bound query.
template <typename Use>
absl::Status ForEachRow(sql::Statement& query, Use use) {
  while (true) {
    const absl::StatusOr<bool> found = query.Step();
    if (!found.ok() || !*found) return found.status();
    use(query);
  }
}

absl::Status CountBy(sql::Database& database, const char* sql, std::map<std::string, int64_t>* counts) {
  sql::Statement query(database, sql);
  return ForEachRow(query, [counts](const sql::Statement& row) { (*counts)[row.String(0)] = row.Int(1); });
}

absl::Status ReadInt(sql::Database& database, const char* sql, int64_t* value) {
  const absl::StatusOr<int64_t> read = database.QueryInt(sql);
  if (read.ok()) *value = *read;
  return read.status();
}

absl::Status ReadArrivals(sql::Database& database, DatasetStats* stats) {
  sql::Statement query(database, "SELECT min(first_received_unix_us), max(first_received_unix_us) FROM attempts");
  return ForEachRow(query, [stats](const sql::Statement& row) {
    if (row.IsNull(0)) return;
    stats->oldest_unix_us = row.Int(0);
    stats->newest_unix_us = row.Int(1);
  });
}

absl::Status ReadProducers(sql::Database& database, DatasetStats* stats) {
  sql::Statement query(database,
                       "SELECT p.producer_id, p.client, s.name, p.committed_seq, p.last_opened_unix_us "
                       "FROM producers AS p LEFT JOIN senders AS s ON s.sender = p.sender "
                       "ORDER BY p.last_opened_unix_us DESC, p.producer_id");
  return ForEachRow(query, [stats](const sql::Statement& row) {
    stats->producers.push_back({.producer_id = record::HexEncode(row.Bytes(0)),
                                .client = row.String(1),
                                .owner = row.IsNull(2) ? "" : row.String(2),
                                .committed_seq = row.Int(3),
                                .last_opened_unix_us = row.Int(4)});
  });
}

// Returns the largest key among the next attempts after `last`, at most as many as one query may count, or `last` if
// there are none.
absl::StatusOr<int64_t> EndOfNext(sql::Statement& next, int64_t last) {
  next.Bind(last, kAttemptsAtOnce);
  RETURN_IF_ERROR(next.Step().status());
  const int64_t end = next.IsNull(0) ? last : next.Int(0);
  next.Reset();
  return end;
}

// Returns the names of the statuses by key.
absl::StatusOr<std::map<int64_t, std::string>> ReadStatuses(sql::Database& database) {
  std::map<int64_t, std::string> names;
  sql::Statement query(database, "SELECT status, name FROM statuses");
  RETURN_IF_ERROR(ForEachRow(query, [&names](const sql::Statement& row) { names[row.Int(0)] = row.String(1); }));
  return names;
}

absl::Status CountMeasurements(sql::Database& database, DatasetStats* stats) {
  sql::Statement next(
      database,
      "SELECT max(attempt) FROM (SELECT attempt FROM attempts WHERE attempt > ?1 ORDER BY attempt LIMIT ?2) AS page");
  // Each attempt's rows are found by its key; PostgreSQL also needs the run.
  sql::Statement count(database, {.text = "SELECT m.status, a.first_received_unix_us / ?3, count(*) FROM attempts AS a "
                                          "JOIN measurements AS m ON m.attempt = a.attempt",
                                  .key = "m.run = a.run",
                                  .where = "a.attempt > ?1 AND a.attempt <= ?2 GROUP BY 1, 2"});
  ASSIGN_OR_RETURN(const auto statuses, ReadStatuses(database));
  DeviceCounter devices(database, &stats->devices);
  int64_t last = 0;
  while (true) {
    const absl::StatusOr<int64_t> end = EndOfNext(next, last);
    if (!end.ok() || *end == last) return end.status();
    count.Bind(last, *end, kMicrosADay);
    RETURN_IF_ERROR(ForEachRow(count, [&](const sql::Statement& row) {
      const auto name = statuses.find(row.Int(0));
      if (name != statuses.end()) stats->measurements[name->second] += row.Int(2);
      stats->rows_by_day[row.Int(1)] += row.Int(2);
    }));
    RETURN_IF_ERROR(devices.Add(last, *end));
    last = *end;
  }
}

absl::Status ReadSizes(sql::Database& database, const std::string& path, DatasetStats* stats) {
  int64_t page_bytes = 0;
  absl::Status status = ReadInt(database, "PRAGMA page_size", &page_bytes);
  if (status.ok()) status = ReadInt(database, "PRAGMA page_count", &stats->database_bytes);
  if (status.ok()) status = ReadInt(database, "PRAGMA freelist_count", &stats->free_bytes);
  stats->database_bytes *= page_bytes;
  stats->free_bytes *= page_bytes;
  std::error_code error;
  const auto wal_bytes = std::filesystem::file_size(path + "-wal", error);
  stats->wal_bytes = error ? 0 : static_cast<int64_t>(wal_bytes);
  return status;
}

absl::Status ReadPgSizes(postgresql::PgDatabase& database, DatasetStats* stats) {
  RETURN_IF_ERROR(ReadInt(database, "SELECT pg_database_size(current_database())", &stats->database_bytes));
  ASSIGN_OR_RETURN(const std::vector<postgresql::PgTableSpace> tables, postgresql::ReadPgSpace(database));
  for (const postgresql::PgTableSpace& table : tables) stats->free_bytes += table.bytes - table.used_bytes;
  int64_t is_allowed = 0;
  RETURN_IF_ERROR(ReadInt(database, "SELECT has_function_privilege('pg_ls_waldir()', 'EXECUTE')::int", &is_allowed));
  if (is_allowed == 0) return absl::OkStatus();
  return ReadInt(database, "SELECT coalesce(sum(size), 0)::bigint FROM pg_ls_waldir()", &stats->wal_bytes);
}

}  // namespace

absl::Status CountContents(sql::Database& database, DatasetStats* stats) {
  absl::Status status = ReadInt(database, "SELECT count(DISTINCT run_id) FROM runs", &stats->runs);
  if (status.ok()) status = ReadInt(database, "SELECT count(DISTINCT config_id) FROM configs", &stats->configs);
  if (status.ok()) status = CountBy(database, "SELECT state, count(*) FROM attempts GROUP BY 1", &stats->attempts);
  if (status.ok()) status = CountBy(database, "SELECT reason, count(*) FROM rejects GROUP BY 1", &stats->rejects);
  if (status.ok()) status = CountBy(database, "SELECT name, size_bytes FROM cache_senders", &stats->cache_bytes);
  if (status.ok()) {
    status = CountBy(database,
                     "SELECT sender, CAST(sum(size_bytes) AS bigint) FROM models WHERE stored_order IS NOT NULL "
                     "GROUP BY sender",
                     &stats->model_bytes);
  }
  if (status.ok()) status = ReadArrivals(database, stats);
  if (status.ok()) status = ReadProducers(database, stats);
  if (status.ok()) status = CountMeasurements(database, stats);
  return status;
}

absl::StatusOr<DatasetStats> ReadStats(const std::string& path) {
  ASSIGN_OR_RETURN(sqlite::SqliteDatabase database, sqlite::OpenDatasetForReading(path, {}));
  DatasetStats stats;
  absl::Status status = CountContents(database, &stats);
  if (status.ok()) status = ReadSizes(database, path, &stats);
  if (!status.ok()) return status;
  return stats;
}

absl::StatusOr<DatasetStats> ReadPgStats(const std::string& url) {
  ASSIGN_OR_RETURN(const std::unique_ptr<postgresql::PgDatabase> database, postgresql::OpenDatasetForReading(url));
  DatasetStats stats;
  absl::Status status = CountContents(*database, &stats);
  if (status.ok()) status = ReadPgSizes(*database, &stats);
  if (!status.ok()) return status;
  return stats;
}

}  // namespace telemetry::storage::upkeep
