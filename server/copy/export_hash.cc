#include "server/copy/export_hash.h"

#include <map>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/stream_hash.h"
#include "server/export/render/dataset_renderer.h"
#include "server/export/render/layout.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::copy {

absl::StatusOr<std::vector<ExportHash>> HashExport(storage::StoreReader& reader) {
  constexpr exporter::render::Layout kLayout = exporter::render::Layout::kHelion;
  std::map<std::string, record::StreamHash> files;
  exporter::render::DatasetRenderer renderer(
      kLayout,
      [&files](exporter::render::Part part, std::string* text) {
        files[std::string(exporter::render::PartSuffix(part, kLayout))].Update(*text);
        text->clear();
        return absl::OkStatus();
      },
      /*with_details=*/true);
  v1::ExportRequest request;
  request.set_details(true);
  request.set_events(true);
  absl::Status status = reader.Export(request, [&](const v1::ExportItem& item) { return renderer.Add(item); });
  if (status.ok()) status = renderer.Finish();
  if (!status.ok()) return status;
  std::vector<ExportHash> hashes;
  for (auto& [suffix, hash] : files) {
    ASSIGN_OR_RETURN(std::string hex, hash.Hex());
    hashes.push_back({.suffix = suffix, .sha256_hex = std::move(hex)});
  }
  return hashes;
}

}  // namespace telemetry::copy
