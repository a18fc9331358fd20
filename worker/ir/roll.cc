#include "worker/ir/roll.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/ir/roll_plan.h"
#include "worker/ir/roller.h"

namespace telemetry::worker::ir {
namespace {

// Limits the number of graphs for several axes at once, which grows exponentially with the number of axes.
constexpr size_t kMostAxesTogether = 3;

// Rolls the axes one after the other. On failure, removes the graphs that were added.
absl::StatusOr<int> RollInOrder(const std::vector<int>& axes, DeviceIr* ir) {
  const size_t graphs = ir->graphs.size();
  int root = ir->root;
  for (int axis : axes) {
    const absl::StatusOr<int> rolled = Roller(ir, axis).Roll(root);
    if (!rolled.ok()) {
      ir->graphs.resize(graphs);
      return rolled.status();
    }
    root = *rolled;
  }
  return root;
}

bool RollOne(int axis, DeviceIr* ir) {
  const size_t graphs = ir->graphs.size();
  Roller roller(ir, axis);
  if (!CheckReadOrWritten(*ir, ir->root).ok() || !roller.Roll(ir->root).ok()) {
    ir->graphs.resize(graphs);
    return false;
  }
  for (const auto& [original, rolled] : roller.rolled()) {
    ir->rolled.push_back({.original_graph = original, .rolled_graph = rolled, .axes = {axis}});
  }
  return !roller.rolled().empty();
}

// Rolls several axes at once. A reduction in the loop of another reduction must be rolled after it, so each order is
// tried.
void RollTogether(std::vector<int> axes, DeviceIr* ir) {
  const std::vector<int> sorted = axes;
  do {
    const absl::StatusOr<int> rolled = RollInOrder(axes, ir);
    if (!rolled.ok()) continue;
    ir->rolled.push_back({.original_graph = ir->root, .rolled_graph = *rolled, .axes = sorted});
    return;
  } while (std::next_permutation(axes.begin(), axes.end()));
}

}  // namespace

void RollReductions(DeviceIr* ir) {
  std::vector<int> rollable;
  for (const Axis& axis : ir->axes) {
    if (axis.kind == AxisKind::kReduction && RollOne(axis.id, ir)) rollable.push_back(axis.id);
  }
  if (rollable.size() > kMostAxesTogether) return;
  for (unsigned chosen = 0; chosen < (1U << rollable.size()); ++chosen) {
    std::vector<int> axes;
    for (size_t i = 0; i < rollable.size(); ++i) {
      if ((chosen >> i & 1U) != 0) axes.push_back(rollable[i]);
    }
    if (axes.size() > 1) RollTogether(axes, ir);
  }
}

std::string WhyNotRolled(const DeviceIr& ir, int axis) {
  if (ir.axes[static_cast<size_t>(axis)].kind != AxisKind::kReduction) return "";
  absl::Status status = CheckReadOrWritten(ir, ir.root);
  if (status.ok()) {
    DeviceIr scratch = ir;
    const absl::StatusOr<int> rolled = Roller(&scratch, axis).Roll(ir.root);
    if (rolled.ok()) return *rolled == ir.root ? "no node works along the axis" : "";
    status = rolled.status();
  }
  return std::string(status.message().data(), status.message().size());
}

}  // namespace telemetry::worker::ir
