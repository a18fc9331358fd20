#pragma once

#include <string>

#include "worker/codegen/pointwise.h"
#include "worker/codegen/tile_code.h"

namespace telemetry::worker::codegen {

// Loads and stores between tensors and registers: whole vectors where memory is aligned and the elements lie next to
// each other in registers as well, single elements elsewhere and at ragged ends. `element` gives gathered indices and
// the value to store.

// What is beyond an end becomes 0.
TileValue EmitLoad(TileCode& code, const ir::Graph& graph, int node, int set, const ElementOf& element);

void EmitStore(TileCode& code, const ir::Graph& graph, int node, const ElementOf& element);

// Where the current register's element of a load or a store lies: a pointer. The second is for loads without gathered
// indices.
std::string AddressOfAccess(const TileCode& code, const ir::Graph& graph, const ir::Node& node, int set,
                            const ElementOf& element);
std::string AddressOfLoad(const TileCode& code, const ir::Graph& graph, const ir::Node& load, int set);

// The name of a tensor's pointer, and of a size or stride that only the launch knows.
std::string TensorName(int tensor);
std::string StrideExpression(const ir::Size& stride, int tensor, int dimension);

// The loaded tensor is also written by the kernel.
bool IsStored(const ir::DeviceIr& ir, int tensor);

}  // namespace telemetry::worker::codegen
