#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/database.h"

namespace telemetry::faults {

// One measurement of an attempt, as far as the tests compare it.
struct KeptRow {
  uint64_t seq = 0;
  double timestamp_s = 0;
  double perf_ms = 0;
};

// The attempts of a dataset or of an export with their rows by seq, by attempt_id.
using KeptAttempts = std::map<std::string, std::vector<KeptRow>>;

// The attempts that were removed, by attempt_id.
struct Removals {
  std::map<std::string, int> times;  // the number of times that the attempt was removed
  // Attempts that were removed although they had not ended or were the newest of their run.
  int64_t forbidden = 0;
  // Attempts that were removed after a newer one of their run, because a transaction held a lock when it was their
  // turn.
  int64_t late = 0;
};

// Creates a trigger that notes each removal of an attempt in the transaction of the removal.
absl::Status NoteRemovals(storage::sql::Database& dataset);
absl::StatusOr<Removals> ReadRemovals(storage::sql::Database& dataset);
absl::StatusOr<KeptAttempts> ReadAttempts(storage::sql::Database& dataset);
// Reads BASE.csv of an export with the layout keyed.
KeptAttempts ReadExportedAttempts(const std::string& csv);

// Checks that the first `acked` records of producer `number` (attempts_log.h) are stored or were removed. `removals`
// may be newer than `attempts`. Returns the number of the producer's attempts.
uint64_t ExpectKeptOrRemoved(int number, uint64_t acked, const KeptAttempts& attempts, const Removals& removals);

}  // namespace telemetry::faults
