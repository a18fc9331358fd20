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

// Version of the .snapshot.json. It increases when a reader of the older version would misread the newer one.
inline constexpr int kSnapshotFormatVersion = 1;

// The content of BASE.snapshot.json: the selection, the format, the counts, and the SHA-256 of each file. It does not
// depend on the time, the place or the source of the export.
struct Snapshot {
  v1::Filter filter;
  Layout layout = Layout::kHelion;
  Compression compression = Compression::kNone;
  DatasetCounts counts;
  std::vector<WrittenFile> files;
};

// Returns one JSON object on several lines, with a final line end.
std::string FormatSnapshot(const Snapshot& snapshot);

// Returns the names in the `files` of a snapshot of any version, or nothing for a text that is not a snapshot.
std::vector<std::string> FileNamesInSnapshot(std::string_view json);

}  // namespace telemetry::exporter
