#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace telemetry::storage::upkeep {

// The result of RestoreDataset().
struct RestoreReport {
  std::string kept;              // the new name of the old database; empty: there was none
  uint64_t records = 0;          // acknowledged records in the backup
  uint64_t missing_records = 0;  // records acknowledged since the backup; 0 also if unknown
};

// Replaces the dataset at `to`, which no collector may serve, with a copy of the backup `from`. Checks the backup
// before it touches anything. Keeps the old dataset, with its log and its mark, as TO.replaced-TIME. Fsyncs the copy
// before it renames it to `to`. After a crash in between, no collector creates a new dataset at `to`, and the call must
// be repeated.
// Errors: DATA_LOSS if the backup is damaged; ALREADY_EXISTS if a collector serves `to`; NOT_FOUND if there is no
// backup; FAILED_PRECONDITION if the backup is not a dataset, or is newer than this program; otherwise as
// OpenSqliteWriter.
absl::StatusOr<RestoreReport> RestoreDataset(const std::string& from, const std::string& to, absl::Time now);

}  // namespace telemetry::storage::upkeep
