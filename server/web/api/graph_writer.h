#pragma once

#include "server/web/json/json_writer.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::web::api {

// Write a GraphNode and a GraphEdge.
void WriteNode(const v1::IrNode& node, json::JsonWriter& out);
void WriteEdge(const v1::IrEdge& edge, json::JsonWriter& out);

}  // namespace telemetry::web::api
