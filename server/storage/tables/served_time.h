#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/storage/sql/database.h"

namespace telemetry::storage::tables {

// For each table, the largest key that is old enough; 0: none.
struct OldKeys {
  int64_t attempt = 0;
  int64_t reject = 0;
};

// The age of rows, measured without a clock that can be set.
//
// Rows that are removed because of their age are lost, so the age must not depend on a correct clock. Arrival times
// depend on one twice: an attempt that arrived while the clock was ten years behind looks ten years old once the clock
// is corrected, and to a clock that is ten years ahead all attempts look old. Comparing the clock with the newest
// arrivals does not help: one attempt that arrives under the wrong clock makes the wrong clock plausible.
//
// Age is therefore counted in time during which a collector served the dataset. The collector reports how much of it
// has passed according to a steady clock. Each report is stored with the newest keys of the tables. Keys grow with each
// arrival and are never reused, so a row whose key is not above a stored one is at least as old as that report. The age
// found this way is never more than the true age. It is less by the time during which no collector served the dataset
// (a machine that was off, a dataset that was copied) and by up to one reporting interval; rows are then kept longer.
//
// Uses the table served_time. Not thread-safe.
class ServedTime {
 public:
  // `database` must outlive this object.
  explicit ServedTime(sql::Database& database) : database_(database) {}

  // Adds the time since the last call, which is not negative. Runs in the caller's transaction.
  absl::Status Add(absl::Duration passed);

  // Returns the sum of all added times.
  absl::StatusOr<absl::Duration> Total();

  // Returns the keys of rows that have existed for at least `age`; none for InfiniteDuration.
  absl::StatusOr<OldKeys> OlderThan(absl::Duration age);

 private:
  sql::Database& database_;
};

}  // namespace telemetry::storage::tables
