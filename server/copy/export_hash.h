#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/storage/store.h"

namespace telemetry::copy {

// A file that an export would write, as its snapshot names it.
struct ExportHash {
  std::string suffix;  // ".csv", ".meta.jsonl", ...
  std::string sha256_hex;

  bool operator==(const ExportHash&) const = default;
};

// What `telemetry-export --details` would write of the whole dataset, without writing it. Errors as ExportDataset.
absl::StatusOr<std::vector<ExportHash>> HashExport(storage::StoreReader& reader);

}  // namespace telemetry::copy
