#pragma once

#include <string>
#include <vector>

#include "server/export/files/compressor.h"
#include "server/export/files/file_set.h"
#include "server/export/render/dataset_counts.h"
#include "server/export/render/layout.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::exporter {

// Version of the .snapshot.json. It increases when a reader of the older version would misread the newer one.
inline constexpr int kSnapshotFormatVersion = 1;

// The content of BASE.snapshot.json: the selection, the format, the counts, and the SHA-256 of each file. It does not
// depend on the time, the place or the source of the export.
struct Snapshot {
  v1::Filter filter;
  render::Layout layout = render::Layout::kHelion;
  files::Compression compression = files::Compression::kNone;
  render::DatasetCounts counts;
  std::vector<files::WrittenFile> files;
};

// Returns one JSON object on several lines, with a final line end.
std::string FormatSnapshot(const Snapshot& snapshot);

}  // namespace telemetry::exporter
