#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/export/dataset_source.h"
#include "server/export/files/compressor.h"
#include "server/export/files/file_set.h"
#include "server/export/render/dataset_counts.h"
#include "server/export/render/layout.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::exporter {

// The settings of an export.
struct ExportOptions {
  // BASE of BASE.csv, BASE.meta.jsonl, ...
  std::string base;
  render::Layout layout = render::Layout::kHelion;
  files::Compression compression = files::Compression::kNone;
  v1::Filter filter;
  // Also write BASE.details.jsonl.
  bool details = false;
  // Write the files even if no row is selected.
  bool allow_empty = false;
  // Also replace files that are not from an earlier export.
  bool force = false;
  // Called from time to time with the number of processed rows and their total. Not called if the total is unknown.
  std::function<void(uint64_t done, uint64_t total)> on_progress;
  // Checked with every item. A stop request ends the export.
  std::stop_token stop;
};

// The result of an export.
struct ExportResult {
  render::DatasetCounts counts;
  // All files except the snapshot.
  std::vector<files::WrittenFile> files;
};

// Writes the selected part of the dataset as sidecars, BASE.attempts.jsonl and BASE.snapshot.json. Equal datasets yield
// equal bytes. After an error, either the files of an earlier export are unchanged, or BASE.incomplete marks that they
// may not be (files/file_set.h). Errors: CANCELLED after a stop request, NOT_FOUND if no row is selected, else those of
// the source, of DatasetRenderer and of FileSet.
absl::StatusOr<ExportResult> ExportDataset(const DatasetSource& source, const ExportOptions& options);

// Returns the base of a path: "out/softmax.csv" and "out/softmax" have the same base.
std::string BaseOfPath(std::string path);

}  // namespace telemetry::exporter
