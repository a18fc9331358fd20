#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/refusal.h"
#include "server/storage/run_table.h"
#include "server/storage/statement.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage {

// Tables attempts and superseded_attempts. Part of the writer: one thread, inside its transaction.
class AttemptTable {
 public:
  // What becomes of a row that names an attempt: it is stored under the attempt's key, or left out without a word since
  // the attempt was superseded, or refused.
  static constexpr int64_t kUnknown = -1;
  static constexpr int64_t kSuperseded = -2;

  // `runs` must outlive this.
  AttemptTable(Database& database, RunTable& runs);

  // Merges the record into what is known of its attempt, and drops the attempts that it supersedes.
  absl::Status Store(const v1::Attempt& attempt, int64_t now_unix_us, MaybeRefusal& refusal);

  // The attempt's key, kUnknown or kSuperseded.
  absl::StatusOr<int64_t> KeyOf(const std::string& attempt_id);
  // The key for a row that names the attempt; 0: the row is to be left out, with or without a refusal.
  absl::StatusOr<int64_t> KeyForRow(const std::string& attempt_id, MaybeRefusal& refusal);

  // Forgets what was remembered of the transaction that is not going to be committed.
  void Forget();

 private:
  struct Row {
    int64_t run = 0;
    std::string origin, dialect;
    v1::Attempt::State state = v1::Attempt::STATE_UNSPECIFIED;
    bool provisional = false;
    std::optional<int64_t> started_unix_us;
    OptionalText search_algorithm;
    std::optional<int64_t> seed;
    OptionalText environment_json, counters_json;
  };

  absl::StatusOr<std::optional<Row>> Read(const std::string& attempt_id);
  absl::Status Merge(const v1::Attempt& attempt, int64_t run, Row& row, MaybeRefusal& refusal);
  absl::Status Insert(const v1::Attempt& attempt, int64_t run, int64_t now_unix_us);
  absl::Status Supersede(const v1::Attempt& by, int64_t run);
  absl::StatusOr<bool> IsSuperseded(const v1::Attempt& attempt, int64_t run);
  absl::StatusOr<int64_t> Find(const std::string& attempt_id);

  RunTable& runs_;
  absl::flat_hash_map<std::string, int64_t> keys_;
  // Rows come in long stretches of one attempt.
  std::string last_id_;
  int64_t last_key_ = kUnknown;

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
