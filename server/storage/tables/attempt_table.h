#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/refusal.h"
#include "server/storage/sql/attempt_key.h"
#include "server/storage/sql/statement.h"
#include "server/storage/tables/byte_bounded_cache.h"
#include "server/storage/tables/cache_budgets.h"
#include "server/storage/tables/run_table.h"
#include "server/storage/tables/sender_table.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage::tables {

// The tables attempts and superseded_attempts. Part of the writer: used by one thread, inside the writer's transaction.
class AttemptTable {
 public:
  // Values of AttemptKey::attempt for an attempt without a key. A row of a superseded attempt is skipped without a
  // reject; a row of an unknown attempt is refused.
  static constexpr int64_t kUnknown = -1;
  static constexpr int64_t kSuperseded = -2;

  // The attempt under which a row is to be stored.
  struct RowTarget {
    sql::AttemptKey key;   // .attempt is 0 if the row must not be stored, with or without a refusal
    bool foreign = false;  // the attempt belongs to another sender, so no row may be added to it

    bool left_out() const { return key.attempt == 0; }
  };

  // `runs` and `sender` must outlive this object.
  AttemptTable(sql::Database& database, RunTable& runs, const CurrentSender& sender);

  // Merges the record into the stored attempt, and removes the attempts that it supersedes.
  absl::Status Store(const v1::Attempt& attempt, int64_t now_unix_us, MaybeRefusal& refusal);

  // Returns the target of a row that names the attempt.
  absl::StatusOr<RowTarget> FindTarget(const std::string& attempt_id, MaybeRefusal& refusal);

  // Discards cached state of a transaction that will not be committed.
  void Forget();

 private:
  // An attempt's key (or kUnknown or kSuperseded) and its sender.
  struct Known {
    sql::AttemptKey key = {.attempt = kUnknown};
    int64_t sender = 0;
  };
  struct Row {
    int64_t run = 0;
    int64_t sender = 0;
    std::string run_id, origin, dialect;
    v1::Attempt::State state = v1::Attempt::STATE_UNSPECIFIED;
    bool provisional = false;
    std::optional<int64_t> started_unix_us;
    OptionalText search_algorithm;
    std::optional<int64_t> seed;
    OptionalText environment_json, counters_json;
  };

  absl::StatusOr<std::optional<Row>> Read(const std::string& attempt_id);
  // Locks the run of a known attempt and returns the run's key.
  absl::StatusOr<int64_t> LockRun(const v1::Attempt& attempt, const Row& row);
  absl::Status Merge(const v1::Attempt& attempt, Row& row, MaybeRefusal& refusal);
  absl::Status Insert(const v1::Attempt& attempt, int64_t run, int64_t now_unix_us);
  absl::Status Supersede(const v1::Attempt& by, int64_t run);
  // `run` is 0 if the attempt's run is not known.
  absl::StatusOr<bool> IsSuperseded(const v1::Attempt& attempt, int64_t run);
  // Removes the stand-in of an unknown run whose attempt was superseded.
  absl::Status RemoveStandIns(const std::set<int64_t>& runs);
  absl::StatusOr<Known> FindKnown(const std::string& attempt_id);
  absl::StatusOr<Known> Find(const std::string& attempt_id);

  RunTable& runs_;
  const CurrentSender& sender_;
  ByteBoundedCache<std::string, Known> keys_{kAttemptCacheBytes};
  // A cache of one entry: consecutive rows usually belong to the same attempt.
  std::string last_id_;
  Known last_;

  sql::Statement find_;
  sql::Statement find_superseded_;
  sql::Statement read_;
  sql::Statement insert_;
  sql::Statement update_;
  sql::Statement is_superseded_;
  sql::Statement remember_superseded_;
  sql::Statement find_droppable_;
  sql::Statement drop_measurements_;
  sql::Statement drop_source_hashes_;
  sql::Statement drop_details_;
  sql::Statement drop_events_;
  std::optional<sql::Statement> drop_long_failures_;  // only if the database has this table
  sql::Statement drop_;
  sql::Statement drop_stand_in_;
};

}  // namespace telemetry::storage::tables
