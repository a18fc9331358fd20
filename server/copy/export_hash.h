#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/storage/store.h"

namespace telemetry::copy {

// A file of an export, as its snapshot describes it.
struct ExportHash {
  std::string suffix;  // ".csv", ".meta.jsonl", ...
  std::string sha256_hex;

  bool operator==(const ExportHash&) const = default;
};

// Returns the files that `telemetry-export --details` would write of the complete dataset, without writing them. Errors
// as for ExportDataset().
absl::StatusOr<std::vector<ExportHash>> HashExport(storage::StoreReader& reader);

}  // namespace telemetry::copy
