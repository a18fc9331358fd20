#include "worker/codegen/plan/mma_plan.h"

#include <algorithm>
#include <optional>

#include "worker/codegen/kernel_facts.h"

namespace telemetry::worker::codegen::plan {
namespace {

using device::DType;

constexpr int64_t kRows = 16;
constexpr int64_t kColumns = 8;
// The requirements of wgmma.
constexpr int64_t kWarpgroupWarps = 4;
constexpr int64_t kWarpgroupRows = 64;
constexpr int64_t kWarpgroupColumns = 16;  // minimum; with fewer, a row in shared memory is too short to be swizzled

bool Contains(const std::vector<int>& axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

// Returns the operand's only axis with more than one element apart from the summed axis, or -1 if there is none or
// several.
int OwnAxis(const Plan& plan, const ir::Node& operand, int summed) {
  int own = -1;
  for (const int axis : operand.shape) {
    if (axis == summed || plan.spans[static_cast<size_t>(axis)] == 1) continue;
    if (own >= 0) return -1;
    own = axis;
  }
  return own;
}

std::optional<text::MmaType> OperandMmaType(const Plan& plan, DType a, DType b) {
  if (a != b || !plan.options.tensor_cores) return std::nullopt;
  if (a == DType::kF16) return text::MmaType::kF16;
  if (a == DType::kBF16) return text::MmaType::kBF16;
  if (a == DType::kF32 && plan.options.allow_tf32) return text::MmaType::kTf32;
  return std::nullopt;
}

void Consider(const Plan& plan, const ir::Graph& graph, int index, MmaPlan* mma) {
  const ir::Node& node = graph.nodes[static_cast<size_t>(index)];
  const ir::Node& a = graph.at(std::get<ir::NodeRef>(node.args[0].value));
  const ir::Node& b = graph.at(std::get<ir::NodeRef>(node.args[1].value));
  const std::optional<text::MmaType> type = OperandMmaType(plan, *a.dtype, *b.dtype);
  if (!type) return;
  MmaDot dot = {.type = *type, .row = OwnAxis(plan, a, node.axis), .column = OwnAxis(plan, b, node.axis)};
  if (dot.row < 0 || dot.column < 0 || dot.row == dot.column) return;
  if (Contains(mma->columns, dot.row) || Contains(mma->rows, dot.column)) {
    std::swap(dot.row, dot.column);
    dot.row_operand = 1;
  }
  if (Contains(mma->columns, dot.row) || Contains(mma->rows, dot.column)) return;
  const auto span = [&plan](int axis) { return plan.spans[static_cast<size_t>(axis)]; };
  if (span(dot.row) < kRows || span(dot.column) < kColumns || span(node.axis) < text::MmaDepth(*type)) return;
  if (!Contains(mma->rows, dot.row)) mma->rows.push_back(dot.row);
  if (!Contains(mma->columns, dot.column)) mma->columns.push_back(dot.column);
  mma->dots[{graph.id, index}] = dot;
}

// Returns the number of warps along the rows. All warps are along the rows if the sums of one dot are the rows of
// another, so that the sums need not pass through shared memory, and for wgmma, which reads the least data that way.
// Otherwise the part of each warp is as close to a square as possible.
int64_t WarpsAlongRows(const Plan& plan, const MmaPlan& mma, const Uses& uses, int64_t rows, int64_t columns) {
  const int64_t warps = plan.threads / 32;
  const int64_t most = std::min(warps, rows / kRows);
  const bool chained = std::any_of(mma.dots.begin(), mma.dots.end(), [&uses](const auto& entry) {
    const auto& [at, dot] = entry;
    return uses.graphs.at(at.first).operands.at(at.second)[static_cast<size_t>(dot.row_operand)] == 0;
  });
  if (chained || mma.by_warpgroups) return most;
  int64_t best = most;
  for (int64_t along = 1; along <= most; along *= 2) {
    const int64_t across = warps / along;
    if (across > columns / kColumns) continue;
    if (rows / along + columns / across <= rows / best + columns / std::max<int64_t>(1, warps / best)) best = along;
  }
  return best;
}

int64_t SmallestSpan(const Plan& plan, const std::vector<int>& axes) {
  int64_t smallest = plan.spans[static_cast<size_t>(axes[0])];
  for (const int axis : axes) smallest = std::min(smallest, plan.spans[static_cast<size_t>(axis)]);
  return smallest;
}

// Reports whether wgmma can use the rows of this dot. If they come from registers, they must be another dot's sums.
// Values from outside a loop are excluded: ptxas 13.0 loses them if a second wgmma of the loop reads as many rows from
// registers.
bool RowsSuitWarpgroups(const Plan& plan, const Uses& uses, std::pair<int, int> at, const MmaDot& dot) {
  const ir::Graph& graph = plan.ir->graphs[static_cast<size_t>(at.first)];
  const auto operand = static_cast<size_t>(dot.row_operand);
  const auto& rows = std::get<ir::NodeRef>(graph.nodes[static_cast<size_t>(at.second)].args[operand].value);
  return uses.graphs.at(at.first).operands.at(at.second)[operand] != 0 || ComesFromDot(graph, rows);
}

bool SuitsWarpgroups(const Plan& plan, const MmaPlan& mma, const Uses& uses) {
  const bool issues = mma.any() && HasWgmma(plan.target) && plan.threads / 32 % kWarpgroupWarps == 0;
  return issues && SmallestSpan(plan, mma.rows) >= kWarpgroupRows &&
         SmallestSpan(plan, mma.columns) >= kWarpgroupColumns &&
         std::all_of(mma.dots.begin(), mma.dots.end(), [&](const auto& entry) {
           return entry.second.type != text::MmaType::kTf32 &&
                  RowsSuitWarpgroups(plan, uses, entry.first, entry.second);
         });
}

}  // namespace

MmaPlan PlanMma(const Plan& plan, const Uses& uses) {
  MmaPlan mma;
  if (plan.target.dialect != device::Dialect::kCuda) return mma;
  for (const auto& [id, graph_uses] : uses.graphs) {
    for (const auto& [node, sets] : graph_uses.operands) {
      Consider(plan, plan.ir->graphs[static_cast<size_t>(id)], node, &mma);
    }
  }
  mma.by_warpgroups = SuitsWarpgroups(plan, mma, uses);
  return mma;
}

bool RowsStayInRegisters(const MmaPlan& mma, const LayoutSet& main, int summed) {
  return Contains(mma.columns, summed) && main.of(summed).threads[1].count == 1;
}

LayoutSet MmaLayout(const Plan& plan, const MmaPlan& mma, const Uses& uses) {
  LayoutSet set = {.name = "0", .axes = std::vector<AxisLayout>(plan.spans.size())};
  const int64_t rows = SmallestSpan(plan, mma.rows);
  const int64_t columns = SmallestSpan(plan, mma.columns);
  const int64_t along = WarpsAlongRows(plan, mma, uses, rows, columns);
  const int64_t across =
      std::min(plan.threads / 32 / along, columns / (mma.by_warpgroups ? kWarpgroupColumns : kColumns));
  for (const ir::Axis& axis : plan.ir->axes) {
    const int64_t span = plan.spans[static_cast<size_t>(axis.id)];
    AxisLayout& layout = set.axes[static_cast<size_t>(axis.id)];
    if (Contains(mma.rows, axis.id)) {
      layout.threads = {{.divisor = 4, .count = 8, .stride = 1}, {.divisor = 32, .count = along, .stride = kRows}};
      layout.registers = {{.divisor = 1, .count = 2, .stride = 8},
                          {.divisor = 2, .count = span / kRows / along, .stride = kRows * along}};
    } else if (Contains(mma.columns, axis.id)) {
      layout.threads = {{.divisor = 1, .count = 4, .stride = 2},
                        {.divisor = 32 * along, .count = across, .stride = span / across}};
      layout.registers = {{.divisor = 1, .count = 2, .stride = 1},
                          {.divisor = 2, .count = span / kColumns / across, .stride = kColumns}};
    } else {
      layout.registers = {{.divisor = 1, .count = span, .stride = 1}};
    }
  }
  for (const ir::Axis& axis : plan.ir->axes) {
    if (!Contains(mma.rows, axis.id) && !Contains(mma.columns, axis.id)) set.order.push_back(axis.id);
  }
  set.order.insert(set.order.end(), mma.rows.begin(), mma.rows.end());
  set.order.insert(set.order.end(), mma.columns.begin(), mma.columns.end());
  return set;
}

}  // namespace telemetry::worker::codegen::plan
