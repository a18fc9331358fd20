#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/refusal.h"
#include "server/storage/sql/statement.h"
#include "server/storage/tables/attempt_table.h"
#include "server/storage/tables/byte_bounded_cache.h"
#include "server/storage/tables/cache_budgets.h"
#include "server/storage/tables/config_table.h"
#include "server/storage/tables/known_rows.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage {

// Tables measurements, statuses and source_hashes: the writer's hot path. One thread, inside its transaction.
//
// A row costs one INSERT; keys come from the caches of the other tables. Whether the row was there already shows in the
// count of changes, and only then is it read and compared.
class MeasurementTable {
 public:
  // `attempts` and `configs` must outlive this.
  MeasurementTable(Database& database, AttemptTable& attempts, ConfigTable& configs);

  absl::Status Store(const v1::Measurement& measurement, MaybeRefusal& refusal);
  absl::Status Store(const v1::SourceHash& hash, MaybeRefusal& refusal);

  // For a LookAhead that finds the rows of a transaction which are stored already, or does not (`is_on`).
  void BeginKnownRows(bool is_on) {
    known_rows_.Begin(is_on);
    known_hashes_.Begin(is_on);
  }
  // A row's contents: the key of its status, SHA-256 of its failure. config_id 0: that of a config that has gone.
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

  // Forgets what was remembered of the transaction that is not going to be committed.
  void Forget() { statuses_.clear(); }

 private:
  enum class Whose { kOwn, kSomebodyElses };
  absl::Status StoreRow(const v1::Measurement& measurement, const AttemptKey& key, MaybeRefusal& refusal);
  absl::Status StoreForeign(const v1::Measurement& measurement, const AttemptKey& key, MaybeRefusal& refusal);
  absl::StatusOr<int64_t> StatusKey(const std::string& name);
  // `config` stands in for the stored one where that was never committed; not used for somebody else's row.
  absl::Status CompareStored(const v1::Measurement& measurement, const AttemptKey& key, Whose whose, int64_t status,
                             int64_t config, MaybeRefusal& refusal);

  AttemptTable& attempts_;
  ConfigTable& configs_;
  KnownRows known_rows_, known_hashes_;
  ByteBoundedCache<std::string, int64_t> statuses_{kStatusCacheBytes};

  Statement insert_;
  Statement read_;
  Statement insert_status_;
  Statement find_status_;
  Statement insert_hash_;
  Statement read_hash_;
  Statement find_names_;
  Statement replace_;
};

}  // namespace telemetry::storage
