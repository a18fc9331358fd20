#pragma once

#include <functional>

#include "worker/codegen/emit/tile_code.h"
#include "worker/codegen/plan/mma_plan.h"

namespace telemetry::worker::codegen::emit {

// Returns the value of a node's argument in a layout set.
using ValueIn = std::function<TileValue(const ir::Arg& arg, int set)>;

// Emits a dot with its accumulator by one of the functions below; returns the result in the main layout set.
TileValue EmitDot(TileCode& code, const ir::Graph& graph, int node, const ValueIn& value_in);

// Emits result += a * b with float32 multiply-adds. The operands, in any layout, are written to shared memory as
// float32. Each thread then computes its own registers of the result, which may have any layout.
void AddDotFma(TileCode& code, const ir::Node& dot, const TileValue& a, const TileValue& b, const TileValue& result);

// Emits the same product on tensor cores with mma. The result is in MmaLayout; `rows` is the operand with the rows of
// the result, and `columns` the other one. Operands pass through shared memory in their own dtype, except rows that are
// already in MmaLayout. Only TileValue::set is used of an operand that is copied to shared memory (SharedCopy).
void AddDotMma(TileCode& code, const plan::MmaDot& dot, int summed, const TileValue& rows, const TileValue& columns,
               const TileValue& result);
// Emits the same product with wgmma (MmaPlan::by_warpgroups).
void AddDotWgmma(TileCode& code, const plan::MmaDot& dot, int summed, const TileValue& rows, const TileValue& columns,
                 const TileValue& result);

}  // namespace telemetry::worker::codegen::emit
