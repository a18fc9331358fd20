#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace telemetry::storage {

// What a collector would find at --db.
struct DatasetState {
  bool exists = false;
  int schema_version = 0;  // 0: the file is empty, or its schema is still in its write-ahead log
  int newest_version = 0;  // the schema that it would be brought to
};

// Looks at it without making, changing or locking a file, also while a collector serves it. FAILED_PRECONDITION: it is
// newer than this program, or no dataset. NOT_FOUND, PERMISSION_DENIED, UNAVAILABLE: it or its folder cannot be
// written. DATA_LOSS: it is no database.
absl::StatusOr<DatasetState> InspectDataset(const std::string& path);

}  // namespace telemetry::storage
