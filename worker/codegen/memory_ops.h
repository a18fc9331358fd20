#pragma once

#include <string>

#include "worker/codegen/pointwise.h"
#include "worker/codegen/tile_code.h"

namespace telemetry::worker::codegen {

// Loads and stores between tensors and registers. They move vectors if memory is aligned and the elements are also
// consecutive in registers, and single elements otherwise and at ragged ends. The callback `element` returns the
// expression of a gathered index or of the value to store.

// Emits a load; elements beyond the end of an axis become 0.
TileValue EmitLoad(TileCode& code, const ir::Graph& graph, int node, int set, const ElementOf& element);

void EmitStore(TileCode& code, const ir::Graph& graph, int node, const ElementOf& element);

// Returns a pointer expression for the element of the current register of a load or store. AddressOfLoad() is for loads
// without gathered indices.
std::string AddressOfAccess(const TileCode& code, const ir::Graph& graph, const ir::Node& node, int set,
                            const ElementOf& element);
std::string AddressOfLoad(const TileCode& code, const ir::Graph& graph, const ir::Node& load, int set);

// Returns the name of a tensor's pointer.
std::string TensorName(int tensor);
// Returns a stride as a literal, or the name of its parameter if only the launch knows the stride.
std::string StrideExpression(const ir::Size& stride, int tensor, int dimension);

// Reports whether the kernel stores to the tensor.
bool IsStored(const ir::DeviceIr& ir, int tensor);

}  // namespace telemetry::worker::codegen
