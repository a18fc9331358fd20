#pragma once

#include <functional>

#include "worker/codegen/mma_plan.h"
#include "worker/codegen/tile_code.h"

namespace telemetry::worker::codegen {

// A node's argument in a layout set.
using ValueIn = std::function<TileValue(const ir::Arg& arg, int set)>;

// A dot with its accumulator, in one of the ways below.
TileValue EmitDot(TileCode& code, const ir::Graph& graph, int node, const ValueIn& value_in);

// result += a * b. The operands go to shared memory as float32, from whatever layout each is in; every thread then
// multiplies and adds up its own registers of the result, whose layout may be any.
void AddDotFma(TileCode& code, const ir::Node& dot, const TileValue& a, const TileValue& b, const TileValue& result);

// The same on tensor cores. `rows` is the operand with the rows of the result, which is in MmaLayout. Operands go
// through shared memory in their own dtype, but for rows that are in MmaLayout already. Of an operand that is copied
// there (SharedCopy) only the set counts.
void AddDotMma(TileCode& code, const MmaDot& dot, int summed, const TileValue& rows, const TileValue& columns,
               const TileValue& result);
// The same with wgmma (MmaPlan::by_warpgroups).
void AddDotWgmma(TileCode& code, const MmaDot& dot, int summed, const TileValue& rows, const TileValue& columns,
                 const TileValue& result);

}  // namespace telemetry::worker::codegen
