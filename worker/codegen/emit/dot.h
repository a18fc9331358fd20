#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

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

// The arguments of the steps of the same product, for OverlappedDots. Only TileValue::set and TileValue::axes are used
// of the rows, unless PackRowsWgmma packs them. `packed` is the name of the array for rows in registers.
struct WgmmaProduct {
  const plan::MmaDot& dot;
  int summed;
  const TileValue& rows;
  const TileValue& columns;
  const TileValue& result;
  std::string packed;
  bool overwrites = false;  // the product replaces the result instead of being added to it
};
// Emits the declaration of the array for packed rows.
void DeclarePackedRows(TileCode& code, const WgmmaProduct& product);
// Emits the code that packs the rows into the array.
void PackRowsWgmma(TileCode& code, const WgmmaProduct& product);
// Emits the start of the product, whose operands are in shared memory or packed. Returns the prefetches that the
// product leaves to be emitted (CopiesAhead::unsent).
std::vector<std::function<void()>> StartDotWgmma(TileCode& code, const WgmmaProduct& product);
// Emits a wait until the products that were started are complete except the last `products_left`, and their results
// can be read: `result` is that of the last complete product. If a product that is left adds to `result`, it cannot be
// read yet.
void FinishDotWgmma(TileCode& code, int64_t products_left, const TileValue& result);
// Emits code that keeps the compiler from moving a FinishDotWgmma that follows before the computation of this value, of
// type kFloat.
void HoldWaitUntilComputed(TileCode& code, const TileValue& value);

}  // namespace telemetry::worker::codegen::emit
