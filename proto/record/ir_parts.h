#pragma once

#include <string>

#include "absl/status/status.h"
#include "proto/record/json.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::record {

// The two orders in which Helion has written the keys of nodes and edges.
enum class KeyOrder { kPr2750, kHelion };

// Reads one node or edge. INVALID_ARGUMENT: not an object, or without the names that tie the graph together (id; source
// and target) as strings. Everything else comes through, whatever it is.
absl::Status ParseIrNode(const Json& object, v1::IrNode* node);
absl::Status ParseIrEdge(const Json& object, v1::IrEdge* edge);

// Appends it as json.dumps does.
void AppendIrNode(const v1::IrNode& node, KeyOrder order, std::string* out);
void AppendIrEdge(const v1::IrEdge& edge, KeyOrder order, std::string* out);

}  // namespace telemetry::record
