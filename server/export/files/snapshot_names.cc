#include "server/export/files/snapshot_names.h"

#include "absl/status/statusor.h"
#include "proto/record/json.h"

namespace telemetry::exporter::files {

std::vector<std::string> FileNamesInSnapshot(std::string_view json) {
  std::vector<std::string> names;
  absl::StatusOr<record::Json> snapshot = record::ParseJson(json);
  const record::Json* files = snapshot.ok() ? snapshot->Find("files") : nullptr;
  if (files == nullptr) return names;
  for (const record::Json& file : files->items) {
    const record::Json* name = file.Find("name");
    if (name != nullptr && name->kind == record::Json::Kind::kString) names.push_back(name->text);
  }
  return names;
}

}  // namespace telemetry::exporter::files
