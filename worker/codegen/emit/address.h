#pragma once

#include <string>

#include "worker/codegen/emit/pointwise.h"
#include "worker/codegen/emit/tile_code.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::codegen::emit {

// The C expressions of addresses in tensors.

// Returns a pointer expression for the element of the current register of a load or store. AddressOfLoad() is for loads
// without gathered indices.
std::string AddressOfAccess(const TileCode& code, const ir::Graph& graph, const ir::Node& node, int set,
                            const ElementFunction& element);
std::string AddressOfLoad(const TileCode& code, const ir::Graph& graph, const ir::Node& load, int set);

// Returns the part of the address of AddressOfLoad() that depends on the register, in elements: an expression that is 0
// for the registers with index 0.
std::string RegisterOffsetOfLoad(const TileCode& code, const ir::Graph& graph, const ir::Node& load, int set);

// Returns the name of a tensor's pointer.
std::string TensorName(int tensor);
// Returns a stride as a literal, or the name of its parameter if only the launch knows the stride.
std::string StrideExpression(const ir::Size& stride, int tensor, int dimension);

}  // namespace telemetry::worker::codegen::emit
