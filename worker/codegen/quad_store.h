#pragma once

#include <functional>
#include <string>

#include "worker/codegen/memory_ops.h"
#include "worker/codegen/tile_code.h"

namespace telemetry::worker::codegen {

// Stores of f16 and bf16 from MmaLayout. There four neighbouring threads, a quad, share eight neighbouring columns, two
// each, and a store of two elements is an eighth of what an instruction can move. So quads exchange four such column
// tiles: each thread has one of them whole then, 16 bytes that lie together.

// The store can go so: its config says eight elements at once, the tensor has them together and aligned, and no end
// cuts them. `axis`: along which the elements lie next to each other in registers; -1: none.
bool SuitsQuads(const TileCode& code, const ir::Graph& graph, int node, int axis);

// Emits it. `value`: the float expression of the element where the loops over registers stand.
void EmitQuadStore(TileCode& code, const ir::Graph& graph, int node, int axis, const ElementOf& element,
                   const std::function<std::string()>& value);

}  // namespace telemetry::worker::codegen
