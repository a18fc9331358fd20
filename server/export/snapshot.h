#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/export/compressor.h"
#include "server/export/dataset_counts.h"
#include "server/export/file_set.h"
#include "server/export/layout.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::exporter {

// Version of the .snapshot.json. Grows when a reader of the older one would misread the newer.
inline constexpr int kSnapshotFormatVersion = 1;

// What BASE.snapshot.json says: what was selected, how it is written, how much it is, and the SHA-256 of each file.
// Nothing in it depends on when, where or from which source the export was made.
struct Snapshot {
  v1::Filter filter;
  Layout layout = Layout::kHelion;
  Compression compression = Compression::kNone;
  DatasetCounts counts;
  std::vector<WrittenFile> files;
};

// One JSON object over several lines, with its last line end.
std::string FormatSnapshot(const Snapshot& snapshot);

// The names in the `files` of a snapshot of any version. Empty for a text that is no snapshot.
std::vector<std::string> FileNamesInSnapshot(std::string_view json);

}  // namespace telemetry::exporter
