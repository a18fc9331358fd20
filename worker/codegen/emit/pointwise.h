#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "worker/codegen/emit/tile_code.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::codegen::emit {

// Returns the C expression of an argument's element at the current register.
using ElementFunction = std::function<std::string(const ir::Arg& arg, bool as_float)>;
// Reports whether an argument is a float.
using IsFloatArg = std::function<bool(const ir::Arg& arg)>;

// Returns the C expression of a pointwise node's element. UNIMPLEMENTED if the node's operation is not pointwise.
absl::StatusOr<std::string> PointwiseExpression(const ir::Node& node, const ElementFunction& element,
                                                const IsFloatArg& is_float, text::DialectText* dialect);

}  // namespace telemetry::worker::codegen::emit
