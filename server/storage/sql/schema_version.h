#pragma once

#include "absl/status/status.h"

namespace telemetry::storage::sql {

// Returns the FAILED_PRECONDITION error for a database with schema `version` when this program knows versions up to
// `newest`. The message names the remedy.
absl::Status NewerSchema(int version, int newest);

// Returns FAILED_PRECONDITION if `version` is older or newer than the one that this program reads.
absl::Status RequireSchemaVersion(int version, int newest);

// A table of this name marks a dataset that `telemetry-collector copy` has not finished. It stores the progress of the
// copy.
inline constexpr char kUnfinishedCopyTable[] = "unfinished_copy";

// Returns the FAILED_PRECONDITION error for an unfinished copy. The message names the remedy.
absl::Status UnfinishedCopy();

}  // namespace telemetry::storage::sql
