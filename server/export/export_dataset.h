#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/export/compressor.h"
#include "server/export/dataset_counts.h"
#include "server/export/dataset_source.h"
#include "server/export/file_set.h"
#include "server/export/layout.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::exporter {

struct ExportOptions {
  // BASE of BASE.csv, BASE.meta.jsonl, ...
  std::string base;
  Layout layout = Layout::kHelion;
  Compression compression = Compression::kNone;
  v1::Filter filter;
  // Also BASE.details.jsonl.
  bool details = false;
  // Write an export without rows, too.
  bool allow_empty = false;
  // Replace files that are not an earlier export's.
  bool force = false;
  // Called now and then with the rows that went by and how many there are; never, where that is not known.
  std::function<void(uint64_t done, uint64_t total)> on_progress;
  // Looked at with every item: a stop ends the export.
  std::stop_token stop;
};

struct ExportResult {
  DatasetCounts counts;
  // Without the snapshot.
  std::vector<WrittenFile> files;
};

// Writes the selected part of the dataset as sidecars, BASE.attempts.jsonl and BASE.snapshot.json. After an error the
// files of an earlier export stand untouched, or BASE.incomplete says that they may not (file_set.h). The same dataset
// gives the same bytes. CANCELLED: it was stopped. NOT_FOUND: it has no rows. Otherwise errors of the source, of
// DatasetRenderer and of FileSet.
absl::StatusOr<ExportResult> ExportDataset(const DatasetSource& source, const ExportOptions& options);

// "out/softmax.csv" and "out/softmax" name the same base.
std::string BaseOfPath(std::string path);

}  // namespace telemetry::exporter
