#pragma once

#include <functional>
#include <string>

#include "worker/codegen/emit/pointwise.h"
#include "worker/codegen/emit/tile_code.h"

namespace telemetry::worker::codegen::emit {

// Wide stores of f16 and bf16 from MmaLayout. In that layout four consecutive threads, a quad, hold eight consecutive
// columns, two each. A store of two elements moves 4 bytes, although one instruction can move 16. A quad therefore
// exchanges the elements of four such column tiles, after which each thread has all eight columns of one tile: 16
// contiguous bytes.

// Reports whether a store can use the exchange: its config allows eight elements at once, the elements are contiguous
// and aligned in the tensor, and no end splits them. `axis` is the axis along which the elements are consecutive in
// registers, or -1 if there is none.
bool SuitsQuads(const TileCode& code, const ir::Graph& graph, int node, int axis);

// Emits such a store. `value` returns the float expression of the element at the current register.
void EmitQuadStore(TileCode& code, const ir::Graph& graph, int node, int axis, const ElementFunction& element,
                   const std::function<std::string()>& value);

}  // namespace telemetry::worker::codegen::emit
