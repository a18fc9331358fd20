#include "tests/server/export/render/render.h"

#include "server/export/render/dataset_renderer.h"

namespace telemetry::exporter::render {

absl::StatusOr<std::map<Part, std::string>> Render(const DatasetSource& source, Layout layout) {
  std::map<Part, std::string> parts;
  DatasetRenderer renderer(layout, [&](Part part, std::string* text) {
    parts[part] += *text;
    text->clear();
    return absl::OkStatus();
  });
  absl::Status status = source(v1::ExportRequest(), [&](const v1::ExportItem& item) { return renderer.Add(item); });
  if (!status.ok()) return status;
  if (status = renderer.Finish(); !status.ok()) return status;
  return parts;
}

}  // namespace telemetry::exporter::render
