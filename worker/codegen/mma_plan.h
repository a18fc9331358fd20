#pragma once

#include <map>
#include <utility>
#include <vector>

#include "worker/codegen/layout.h"
#include "worker/codegen/plan.h"
#include "worker/codegen/uses.h"

namespace telemetry::worker::codegen {

// Which dots go to tensor cores, and the layout that they ask for. The instruction m16n8k16 (tf32: m16n8k8) leaves its
// sums in a thread's registers so: rows by lane / 4, and 8 further down; columns by twice the lane % 4, and next to it.
// An axis that runs along the rows or the columns of a dot has that layout in all of the kernel, and everything else,
// row reductions and stores among it, works on the sums where they are.

enum class MmaType { kF16, kBF16, kTf32 };

struct MmaDot {
  MmaType type = MmaType::kF16;
  int row = -1;         // the axis along the rows of the result
  int column = -1;      // and along its columns
  int row_operand = 0;  // which of the dot's operands has the rows; the other one has the columns
};

struct MmaPlan {
  std::map<std::pair<int, int>, MmaDot> dots;  // by graph and node
  std::vector<int> rows;
  std::vector<int> columns;
  // All of them are done by wgmma, which four warps issue together for 64 rows (sm_90 alone has it), rather than by
  // mma. Its sums lie as those of four mma below each other.
  bool by_warpgroups = false;
  bool any() const { return !dots.empty(); }
};

// Nothing for OpenCL. Dots whose shapes do not suit, or that want an axis both ways, are left out.
MmaPlan PlanMma(const Plan& plan, const Uses& uses);

// The main layout: rows and columns as above, other axes in registers only.
LayoutSet MmaLayout(const Plan& plan, const MmaPlan& mma, const Uses& uses);

// Elements of the summed axis that one instruction takes.
constexpr int64_t MmaDepth(MmaType type) { return type == MmaType::kTf32 ? 8 : 16; }

}  // namespace telemetry::worker::codegen
