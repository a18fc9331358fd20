#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/copy/row_reader.h"
#include "server/storage/sql/database.h"

namespace telemetry::copy {

// How far an unfinished copy is.
struct CopyProgress {
  std::string source_state;  // of the dataset that it is a copy of (SourceState)
  int64_t step = 0;          // transactions until now
  std::string table;         // the one that is under way; empty: all tables are there
  RowPlace place;            // in it
};

// The table that marks a dataset as an unfinished copy (storage::kUnfinishedCopyTable) and says how far it is, in the
// same transactions as the rows. All calls are made inside the caller's transactions.

absl::Status BeginCopy(storage::Database& target, const CopyProgress& progress);

// Nobody else goes on with the copy until the transaction ends.
absl::StatusOr<CopyProgress> ReadProgress(storage::Database& target);

// ABORTED: it is not where this one left it: another copy to the same place is under way.
absl::Status RequireStep(storage::Database& target, int64_t step);

absl::Status WriteProgress(storage::Database& target, const CopyProgress& progress);

// The dataset is one like any other from then on.
absl::Status EndCopy(storage::Database& target);

}  // namespace telemetry::copy
