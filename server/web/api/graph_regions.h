#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/web/json/json_writer.h"

namespace telemetry::web::api {

// Writes the regions of a serialised IR graph, as its nodes and the edges into regions tell, as `regions`.
absl::Status WriteRegions(const std::string& graph, json::JsonWriter& out);

}  // namespace telemetry::web::api
