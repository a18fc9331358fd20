#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/copy/row_reader.h"
#include "server/storage/sql/database.h"

namespace telemetry::copy {

// The progress of an unfinished copy.
struct CopyProgress {
  std::string source_state;  // state of the source (SourceState())
  int64_t step = 0;          // number of transactions so far
  std::string table;         // current table; empty: all tables are copied
  RowPlace place;            // position in the table
};

// The table that marks a dataset as an unfinished copy (storage::kUnfinishedCopyTable) and stores its progress in the
// same transactions as the rows. All functions must be called inside the caller's transactions.

absl::Status BeginCopy(storage::sql::Database& target, const CopyProgress& progress);

// Returns the progress and locks it: no other program continues the copy until the transaction ends.
absl::StatusOr<CopyProgress> ReadProgress(storage::sql::Database& target);

// Returns ABORTED if the progress differs from `step`, because another copy to the same place is running.
absl::Status RequireStep(storage::sql::Database& target, int64_t step);

absl::Status WriteProgress(storage::sql::Database& target, const CopyProgress& progress);

// Removes the table. The dataset is then an ordinary one.
absl::Status EndCopy(storage::sql::Database& target);

}  // namespace telemetry::copy
