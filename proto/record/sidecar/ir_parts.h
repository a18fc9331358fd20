#pragma once

#include <string>

#include "absl/status/status.h"
#include "proto/record/json.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::record::sidecar {

// The two orders in which Helion has written the keys of nodes and edges.
enum class KeyOrder { kPr2750, kHelion };

// Parses one node or edge. Returns INVALID_ARGUMENT if the value is not an object or if a name that connects the graph
// (id; source and target) is not a string. All other keys are kept, whatever their values.
absl::Status ParseIrNode(const Json& object, v1::IrNode* node);
absl::Status ParseIrEdge(const Json& object, v1::IrEdge* edge);

// Appends the node or edge in the form of json.dumps.
void AppendIrNode(const v1::IrNode& node, KeyOrder order, std::string* out);
void AppendIrEdge(const v1::IrEdge& edge, KeyOrder order, std::string* out);

}  // namespace telemetry::record::sidecar
