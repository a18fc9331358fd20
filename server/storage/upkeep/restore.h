#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace telemetry::storage {

struct RestoreReport {
  std::string kept;              // the old database's new name; empty: there was none
  uint64_t records = 0;          // acknowledged ones in the backup
  uint64_t missing_records = 0;  // acknowledged since; 0 also where it is not known
};

// Puts a copy of the backup `from` into the place of the dataset at `to`, which no collector may serve. The backup is
// checked before anything is touched. What lay at `to` stays, with its log and its mark, beside it as
// TO.replaced-TIME; the copy is on the disk before it gets its name. After a process that died in between no collector
// begins anew in its place: the call is to be repeated.
// DATA_LOSS: the backup is damaged. ALREADY_EXISTS: a collector has `to`. NOT_FOUND: no backup. FAILED_PRECONDITION:
// the backup is none of this program's, or newer. Else as OpenSqliteWriter.
absl::StatusOr<RestoreReport> RestoreDataset(const std::string& from, const std::string& to, absl::Time now);

}  // namespace telemetry::storage
