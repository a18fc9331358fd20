#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "worker/codegen/tile_code.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::codegen {

// An argument as an expression for the current register.
using ElementOf = std::function<std::string(const ir::Arg& arg, bool as_float)>;
// Whether an argument is a float.
using IsFloatArg = std::function<bool(const ir::Arg& arg)>;

// The C expression of a pointwise node's element. UNIMPLEMENTED: not a pointwise op.
absl::StatusOr<std::string> PointwiseExpression(const ir::Node& node, const ElementOf& element,
                                                const IsFloatArg& is_float, DialectText* dialect);

}  // namespace telemetry::worker::codegen
