#pragma once

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "worker/codegen/emit/tile_code.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::codegen::emit {

// Returns the C expression of an argument's element at the current register, converted to a type.
using ElementFunction = std::function<std::string(const ir::Arg& arg, text::RegisterType type)>;
// Returns the type of an argument; nullopt for an integer that takes the type of the other arguments.
using TypeOfArg = std::function<std::optional<text::RegisterType>(const ir::Arg& arg)>;

// Returns the type of a number: kFloat or kInt.
text::RegisterType TypeOfNumber(const ir::Arg& arg);

// Returns the C expression of a pointwise node's element. UNIMPLEMENTED if the node's operation is not pointwise.
absl::StatusOr<std::string> PointwiseExpression(const ir::Node& node, const ElementFunction& element,
                                                const TypeOfArg& type_of, text::DialectText* dialect);

}  // namespace telemetry::worker::codegen::emit
