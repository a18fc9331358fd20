#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::web::api {

// Parses a serialised IR graph without its nodes and edges, which take most of its memory. DATA_LOSS: it is not a
// graph.
absl::StatusOr<v1::IrGraph> ParseGraphHead(const std::string& graph);

// Calls `use` for each node and each edge of a serialised IR graph, in their order. DATA_LOSS: it is not a graph.
absl::Status ForEachNode(const std::string& graph, const std::function<void(const v1::IrNode&)>& use);
absl::Status ForEachEdge(const std::string& graph, const std::function<void(const v1::IrEdge&)>& use);

}  // namespace telemetry::web::api
