#pragma once

#include <map>
#include <utility>
#include <vector>

#include "worker/codegen/plan/layout.h"
#include "worker/codegen/plan/plan.h"
#include "worker/codegen/plan/uses.h"
#include "worker/codegen/text/mma_functions.h"

namespace telemetry::worker::codegen::plan {

// The choice of the dots that run on tensor cores, and the layout that these dots need. The instruction m16n8k16 (for
// tf32 m16n8k8) leaves four sums in each thread's registers: in the rows lane / 4 and lane / 4 + 8, and in the columns
// 2 * (lane % 4) and 2 * (lane % 4) + 1. An axis along the rows or columns of a dot has that layout in the entire
// kernel. All other code, such as row reductions and stores, operates on the sums in these registers.

// The assignment of the axes of one dot to the rows and columns of the instruction.
struct MmaDot {
  text::MmaType type = text::MmaType::kF16;
  int row = -1;         // the axis along the rows of the result
  int column = -1;      // the axis along the columns of the result
  int row_operand = 0;  // index (0 or 1) of the operand that has the rows; the other operand has the columns
};

// The dots of a kernel that run on tensor cores.
struct MmaPlan {
  std::map<std::pair<int, int>, MmaDot> dots;  // by graph and node
  std::vector<int> rows;                       // the axes that are along the rows of some dot
  std::vector<int> columns;                    // the axes that are along the columns of some dot
  // All dots use wgmma instead of mma. Four warps issue wgmma together for 64 rows; only sm_90 has the instruction. Its
  // sums are in the same registers as those of four mma instructions for consecutive groups of 16 rows.
  bool by_warpgroups = false;
  bool any() const { return !dots.empty(); }
};

// Chooses the dots for tensor cores. The plan is empty for OpenCL. Leaves out dots whose shapes are unsuitable and dots
// that would need an axis along both rows and columns.
MmaPlan PlanMma(const Plan& plan, const Uses& uses);

// Reports whether values computed from the sums of a dot can be the rows of another dot that sums along `summed`,
// without leaving their registers: `summed` has the layout of columns, and each warp has all of them.
bool RowsStayInRegisters(const MmaPlan& mma, const LayoutSet& main, int summed);

// Returns the main layout set: row and column axes in the layout described above, all other axes in registers only.
LayoutSet MmaLayout(const Plan& plan, const MmaPlan& mma, const Uses& uses);

}  // namespace telemetry::worker::codegen::plan
