#pragma once

#include "worker/codegen/emit/pointwise.h"
#include "worker/codegen/emit/tile_code.h"

namespace telemetry::worker::codegen::emit {

// Loads and stores between tensors and registers. They move vectors if memory is aligned and the elements are also
// consecutive in registers, and single elements otherwise and at ragged ends. The callback `element` returns the
// expression of a gathered index or of the value to store.

// Emits a load; elements beyond the end of an axis become 0.
TileValue EmitLoad(TileCode& code, const ir::Graph& graph, int node, int set, const ElementFunction& element);

void EmitStore(TileCode& code, const ir::Graph& graph, int node, const ElementFunction& element);

}  // namespace telemetry::worker::codegen::emit
