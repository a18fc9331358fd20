#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/refusal.h"
#include "server/storage/sql/long_failures.h"
#include "server/storage/sql/statement.h"
#include "server/storage/tables/attempt_table.h"
#include "server/storage/tables/byte_bounded_cache.h"
#include "server/storage/tables/cache_budgets.h"
#include "server/storage/tables/config_table.h"
#include "server/storage/tables/known_rows.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage::tables {

// The tables measurements, long_failures, statuses and source_hashes: the writer's hot path. Used by one thread, inside
// the writer's transaction.
//
// A row costs one INSERT; keys come from the caches of the other tables. The number of changed rows shows whether the
// row existed. Only an existing row is read and compared.
class MeasurementTable {
 public:
  // `attempts` and `configs` must outlive this object.
  MeasurementTable(sql::Database& database, AttemptTable& attempts, ConfigTable& configs);

  absl::Status Store(const v1::Measurement& measurement, MaybeRefusal& refusal);
  absl::Status Store(const v1::SourceHash& hash, MaybeRefusal& refusal);

  // Begins a transaction of a Prefetcher that reports the rows that are already stored (`is_on`), or does not.
  void BeginKnownRows(bool is_on) {
    known_rows_.Begin(is_on);
    known_hashes_.Begin(is_on);
  }
  // A row's contents, with the key of its status and the SHA-256 of its failure. config_id is 0 if the config no longer
  // exists.
  struct Contents {
    double timestamp_s = 0;
    int64_t generation = 0;
    int64_t status = 0;
    std::optional<double> perf_ms, compile_time_s;
    uint64_t config_id = 0;
    std::optional<std::string> failure_sha256;
  };
  void RememberRow(int64_t attempt, uint64_t seq, const Contents& contents);
  void RememberHash(int64_t attempt, uint64_t seq, std::string_view source_hash);

  // Discards cached state of a transaction that will not be committed.
  void Forget() { statuses_.clear(); }

 private:
  enum class RowOwner { kSender, kOtherSender };
  absl::Status StoreRow(const v1::Measurement& measurement, const sql::AttemptKey& key, MaybeRefusal& refusal);
  absl::Status StoreForeign(const v1::Measurement& measurement, const sql::AttemptKey& key, MaybeRefusal& refusal);
  absl::StatusOr<int64_t> StatusKey(const std::string& name);
  // `config` replaces the stored config if that was never committed. Not used for a row of another sender.
  absl::Status CompareStored(const v1::Measurement& measurement, const sql::AttemptKey& key, RowOwner owner,
                             int64_t status, int64_t config, MaybeRefusal& refusal);

  AttemptTable& attempts_;
  ConfigTable& configs_;
  KnownRows known_rows_, known_hashes_;
  ByteBoundedCache<std::string, int64_t> statuses_{kStatusCacheBytes};

  sql::LongFailures long_failures_;
  sql::Statement insert_;
  sql::Statement read_;
  sql::Statement insert_status_;
  sql::Statement find_status_;
  sql::Statement insert_hash_;
  sql::Statement read_hash_;
  sql::Statement find_names_;
  sql::Statement replace_;
};

}  // namespace telemetry::storage::tables
