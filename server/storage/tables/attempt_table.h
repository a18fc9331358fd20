#pragma once

#include <cstdint>
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

namespace telemetry::storage {

// Tables attempts and superseded_attempts. Part of the writer: one thread, inside its transaction.
class AttemptTable {
 public:
  // What becomes of a row that names an attempt: it is stored under the attempt's key, or left out without a word since
  // the attempt was superseded, or refused.
  static constexpr int64_t kUnknown = -1;
  static constexpr int64_t kSuperseded = -2;

  // Where a row goes.
  struct RowTarget {
    AttemptKey key;        // .attempt is 0: the row is to be left out, with or without a refusal
    bool foreign = false;  // the attempt is somebody else's: nothing may be added to it

    bool left_out() const { return key.attempt == 0; }
  };

  // `runs` and `sender` must outlive this.
  AttemptTable(Database& database, RunTable& runs, const CurrentSender& sender);

  // Merges the record into what is known of its attempt, and drops the attempts that it supersedes.
  absl::Status Store(const v1::Attempt& attempt, int64_t now_unix_us, MaybeRefusal& refusal);

  // For a row that names the attempt.
  absl::StatusOr<RowTarget> TargetOf(const std::string& attempt_id, MaybeRefusal& refusal);

  // Forgets what was remembered of the transaction that is not going to be committed.
  void Forget();

 private:
  // An attempt's key, kUnknown or kSuperseded, and whose it is.
  struct Known {
    AttemptKey key = {.attempt = kUnknown};
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
  // Locks the run of a known attempt and returns its key.
  absl::StatusOr<int64_t> LockRun(const v1::Attempt& attempt, const Row& row);
  absl::Status Merge(const v1::Attempt& attempt, Row& row, MaybeRefusal& refusal);
  absl::Status Insert(const v1::Attempt& attempt, int64_t run, int64_t now_unix_us);
  absl::Status Supersede(const v1::Attempt& by, int64_t run);
  absl::StatusOr<bool> IsSuperseded(const v1::Attempt& attempt, int64_t run);
  absl::StatusOr<Known> KnownOf(const std::string& attempt_id);
  absl::StatusOr<Known> Find(const std::string& attempt_id);

  RunTable& runs_;
  const CurrentSender& sender_;
  ByteBoundedCache<std::string, Known> keys_{kAttemptCacheBytes};
  // Rows come in long stretches of one attempt.
  std::string last_id_;
  Known last_;

  Statement find_;
  Statement find_superseded_;
  Statement read_;
  Statement insert_;
  Statement update_;
  Statement is_superseded_;
  Statement remember_superseded_;
  Statement find_droppable_;
  Statement drop_measurements_;
  Statement drop_source_hashes_;
  Statement drop_details_;
  Statement drop_;
};

}  // namespace telemetry::storage
