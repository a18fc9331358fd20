#include "server/export/export_dataset.h"

#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/export/files/write_behind.h"
#include "server/export/read_ahead.h"
#include "server/export/render/dataset_renderer.h"
#include "server/export/selection.h"
#include "server/export/snapshot.h"

namespace telemetry::exporter {
namespace {

// Computes the progress of the export from the items.
class Progress {
 public:
  explicit Progress(const ExportOptions& options) : report_(options.on_progress) {}

  void Saw(const v1::ExportItem& item) {
    if (!report_) return;
    if (item.has_totals()) total_ = item.totals().measurements();
    if (item.has_rows()) done_ += item.rows().measurements_size();
    if (total_ > 0) report_(done_, total_);
  }

 private:
  const std::function<void(uint64_t, uint64_t)>& report_;
  uint64_t done_ = 0;
  uint64_t total_ = 0;
};

absl::Status Cancelled(const ExportOptions& options) {
  return absl::CancelledError(absl::StrCat("the export to ", options.base, " was interrupted and left no files"));
}

// Streams the dataset through the renderer into the files. All files are written on return.
absl::StatusOr<render::DatasetCounts> Render(const DatasetSource& source, const ExportOptions& options,
                                             files::FileSet* files) {
  files::WriteBehind writer(files);
  render::DatasetRenderer renderer(
      options.layout,
      [&](render::Part part, std::string* text) { return writer.Push(render::PartSuffix(part, options.layout), text); },
      options.details);
  v1::ExportRequest request;
  *request.mutable_filter() = options.filter;
  request.set_details(options.details || render::NeedsDetails(options.layout));
  // Events have no status.
  request.set_events(options.layout == render::Layout::kHelion && options.filter.status().empty());
  Progress progress(options);
  v1::FilterValues values;
  absl::Status status = ReadAhead(source)(request, [&](const v1::ExportItem& item) {
    if (options.stop.stop_requested()) return Cancelled(options);
    progress.Saw(item);
    if (item.has_filter_values()) values = item.filter_values();
    return renderer.Add(item);
  });
  if (!status.ok()) return status;
  if (status = renderer.Finish(); !status.ok()) return status;
  if (status = writer.Finish(); !status.ok()) return status;
  const bool is_empty = renderer.counts().measurements == 0 && renderer.counts().trace_lines == 0;
  if (is_empty && !options.allow_empty) return NothingSelected(options.filter, values);
  return renderer.counts();
}

}  // namespace

absl::StatusOr<ExportResult> ExportDataset(const DatasetSource& source, const ExportOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<files::FileSet> files,
                   files::FileSet::Create(options.base, options.compression, options.force));
  ASSIGN_OR_RETURN(render::DatasetCounts counts, Render(source, options, files.get()));
  ASSIGN_OR_RETURN(std::vector<files::WrittenFile> written, files->Finish());
  const Snapshot snapshot{.filter = options.filter,
                          .layout = options.layout,
                          .compression = options.compression,
                          .counts = counts,
                          .files = written};
  RETURN_IF_ERROR(files->Publish(FormatSnapshot(snapshot)));
  return ExportResult{.counts = std::move(counts), .files = std::move(written)};
}

std::string BaseOfPath(std::string path) {
  const std::string kRowsSuffix = ".csv";
  if (absl::EndsWith(path, kRowsSuffix)) path.resize(path.size() - kRowsSuffix.size());
  return path;
}

}  // namespace telemetry::exporter
