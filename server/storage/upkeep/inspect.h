#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace telemetry::storage::upkeep {

// The state of the dataset that a collector would find at --db.
struct DatasetState {
  bool exists = false;
  int schema_version = 0;  // 0: the file is empty, or its schema is still in its write-ahead log
  int newest_version = 0;  // the version to which a migration would bring it
};

// Inspects the dataset without creating, changing or locking a file, also while a collector serves it. Errors:
// FAILED_PRECONDITION if the dataset is newer than this program, or the file is another database; NOT_FOUND,
// PERMISSION_DENIED or UNAVAILABLE if the file or its folder cannot be written; DATA_LOSS if the file is not a
// database.
absl::StatusOr<DatasetState> InspectDataset(const std::string& path);

}  // namespace telemetry::storage::upkeep
