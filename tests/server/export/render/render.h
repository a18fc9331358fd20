#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "server/export/dataset_source.h"
#include "server/export/render/layout.h"

namespace telemetry::exporter::render {

// Returns the text of each part of an export of the whole dataset in this layout.
absl::StatusOr<std::map<Part, std::string>> Render(const DatasetSource& source, Layout layout);

}  // namespace telemetry::exporter::render
