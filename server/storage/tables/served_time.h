#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/storage/sql/database.h"

namespace telemetry::storage {

// The last of a table's keys that are old enough; 0: none.
struct OldKeys {
  int64_t attempt = 0;
  int64_t reject = 0;
};

// How old things are, without any clock that can be set.
//
// What is removed by its age is gone, so the age must not depend on a clock being right. Arrival times do twice: an
// attempt that came while the clock was ten years behind looks ten years old once it is set, and to a clock that is ten
// years ahead all of them do. Looking whether the newest arrivals fit the clock does not help: one attempt that arrives
// under the wrong clock makes it fit.
//
// So age is counted in time that a collector has served the dataset. It hands over how much of it has passed, by a
// steady clock, and each time it is written down with the newest keys there are. Keys grow with each arrival and are
// never used twice: what has a key up to those has been there since. The age found in this way is never more than the
// true one. It is less by what nobody served (a machine that is off, a dataset that was copied), and by up to one step
// of the counting; then things are kept for longer.
//
// Table served_time. One thread.
class ServedTime {
 public:
  // `database` must outlive this.
  explicit ServedTime(Database& database) : database_(database) {}

  // So much has passed since the last call. In the caller's transaction; not negative.
  absl::Status Add(absl::Duration passed);

  // All that was ever added.
  absl::StatusOr<absl::Duration> Total();

  // What has been there for at least `age`; InfiniteDuration: nothing has.
  absl::StatusOr<OldKeys> OlderThan(absl::Duration age);

 private:
  Database& database_;
};

}  // namespace telemetry::storage
