#include "worker/codegen/plan/tiling.h"

#include <algorithm>
#include <set>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::codegen::plan {
namespace {

using ir::Graph;
using ir::Node;
using record::Cat;

// The most registers of one value in one thread. A GPU's thread has 255, so that a larger value is in slow memory, and
// takes long to compile; those of a large block share the registers of their multiprocessor. In OpenCL, which runs on
// CPUs, memory serves as well.
constexpr int64_t kMostRegisters = 512;
constexpr int64_t kMostRegistersOfCuda = 256;
constexpr int64_t kRegistersOfGpuThread = 255;
constexpr int64_t kRegistersOfMultiprocessor = 65536;

// The values and accesses of one layout set.
struct Occupants {
  std::vector<std::vector<int>> shapes;
  struct Contact {
    const Graph* graph;
    const Node* node;
    int index;  // of the node in the graph
  };
  std::vector<Contact> accesses;
};

Occupants FindOccupants(const Plan& plan, const Uses& uses, int set) {
  Occupants occupants;
  for (const auto& [id, graph_uses] : uses.graphs) {
    const Graph& graph = plan.ir->graphs[static_cast<size_t>(id)];
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      const std::vector<int>& sets = graph_uses.sets[i];
      const bool stores = node.op == ir::Op::kStore && set == 0;
      if (!stores && std::find(sets.begin(), sets.end(), set) == sets.end()) continue;
      const bool is_access = node.op == ir::Op::kLoad || node.op == ir::Op::kStore;
      if (is_access) occupants.accesses.push_back({.graph = &graph, .node = &node, .index = static_cast<int>(i)});
      if (node.op == ir::Op::kStore) occupants.shapes.push_back(StoreAxes(graph, node));
      if (!node.shape.empty()) occupants.shapes.push_back(node.shape);
    }
  }
  return occupants;
}

// Returns the axis that is contiguous in memory for most accesses, preferring later axes, or -1 if there is no axis.
int MinorAxis(const Plan& plan, const Occupants& occupants) {
  std::vector<int64_t> score(plan.blocks.size(), -1);
  for (const std::vector<int>& shape : occupants.shapes) {
    for (const int axis : shape)
      score[static_cast<size_t>(axis)] = std::max<int64_t>(score[static_cast<size_t>(axis)], 0);
  }
  for (const Occupants::Contact& access : occupants.accesses) {
    for (size_t axis = 0; axis < score.size(); ++axis) {
      const auto id = static_cast<int>(axis);
      if (plan.spans[axis] > 1 && IsContiguous(*plan.ir, *access.graph, *access.node, id)) score[axis] += 2;
    }
  }
  int best = -1;
  for (size_t axis = 0; axis < score.size(); ++axis) {
    if (score[axis] < 0) continue;
    const bool wider = best >= 0 && plan.spans[axis] == 1 && plan.spans[static_cast<size_t>(best)] > 1;
    if (best < 0 || (score[axis] >= score[static_cast<size_t>(best)] && !wider)) best = static_cast<int>(axis);
  }
  return best;
}

// Assigns the axes to slots (graph colouring) such that no two axes of a value share a slot. The slot of the minor axis
// is last.
std::vector<Slot> AssignSlots(const Occupants& occupants, int minor) {
  std::set<std::pair<int, int>> meet;
  std::set<int> axes;
  for (const std::vector<int>& shape : occupants.shapes) {
    for (const int a : shape) {
      axes.insert(a);
      for (const int b : shape) {
        if (a != b) meet.insert({a, b});
      }
    }
  }
  std::vector<Slot> slots;
  const auto place = [&](int axis) {
    for (Slot& slot : slots) {
      const bool free = std::none_of(slot.axes.begin(), slot.axes.end(), [&](int other) {
        return meet.contains({axis, other});
      });
      if (free) {
        slot.axes.push_back(axis);
        return;
      }
    }
    slots.push_back({{axis}});
  };
  if (minor >= 0) place(minor);
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    if (*axis != minor) place(*axis);
  }
  std::reverse(slots.begin(), slots.end());
  return slots;
}

// Returns the widest vector that an access can use, in elements. Narrows the vector until every thread has an element,
// except for copies, which need not keep all threads busy.
int64_t WidestVector(const Plan& plan, const Occupants& occupants, int minor, const std::vector<Slot>& slots,
                     bool is_copy) {
  if (minor < 0) return 1;
  int64_t vector = 1;
  for (const Occupants::Contact& access : occupants.accesses) {
    const AccessPlan& settings = plan.AccessPlanFor(access.graph->id, access.index);
    vector = std::max(vector,
                      AlignedVector(*plan.ir, *access.graph, *access.node, minor, settings.vector_width, plan.blocks));
  }
  if (is_copy) return vector;
  int64_t elements = 1;
  for (const Slot& slot : slots) {
    int64_t most = 1;
    for (const int axis : slot.axes) most = std::max(most, plan.spans[static_cast<size_t>(axis)]);
    elements *= most;
  }
  while (vector > 1 && elements / vector < plan.tile_threads()) vector /= 2;
  return vector;
}

LayoutSet SetFor(const Plan& plan, const Occupants& occupants, const std::string& name, bool is_copy) {
  const int minor = MinorAxis(plan, occupants);
  const std::vector<Slot> slots = AssignSlots(occupants, minor);
  return SimtLayout(name, slots, plan.spans, plan.reaches, WidestVector(plan, occupants, minor, slots, is_copy),
                    plan.tile_threads());
}

// Returns the most elements of a value that leave a register of a thread free.
int64_t ElementsInRegisters(int64_t block_threads) {
  return std::min(kRegistersOfGpuThread, kRegistersOfMultiprocessor / block_threads - 1);
}

// Also sets layouts->spills, if the values are in registers and not only copied to shared memory.
absl::Status CheckRegisters(const Plan& plan, const Occupants& occupants, const LayoutSet& layout, bool is_copied,
                            Layouts* layouts) {
  const bool is_cuda = plan.target.dialect == device::Dialect::kCuda;
  const int64_t most = is_cuda ? kMostRegistersOfCuda : kMostRegisters;
  for (const std::vector<int>& shape : occupants.shapes) {
    const int64_t registers = layout.Registers(shape);
    if (is_cuda && !is_copied && registers > ElementsInRegisters(plan.threads)) layouts->spills = true;
    if (registers <= most) continue;
    std::string sizes;
    for (const int axis : shape) {
      sizes += Cat(sizes.empty() ? "" : " x ", plan.ir->axes[static_cast<size_t>(axis)].symbol(), "=",
                   plan.spans[static_cast<size_t>(axis)]);
    }
    return absl::ResourceExhaustedError(Cat("a tile of ", sizes, " needs ", registers, " registers in each of ",
                                            plan.tile_threads(), " threads; the limit is ", most,
                                            ": choose smaller blocks or more warps"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Layouts> ChooseLayouts(const Plan& plan, const Uses& uses) {
  Layouts layouts = {.mma = PlanMma(plan, uses)};
  layouts.copies = PlanCopies(plan, uses, layouts.mma);
  for (size_t set = 0; set <= uses.stagings.size(); ++set) {
    const Occupants occupants = FindOccupants(plan, uses, static_cast<int>(set));
    const bool on_tensor_cores = set == 0 && layouts.mma.any();
    layouts.sets.push_back(on_tensor_cores
                               ? MmaLayout(plan, layouts.mma, uses)
                               : SetFor(plan, occupants, std::to_string(set), layouts.copies[set].has_value()));
    RETURN_IF_ERROR(CheckRegisters(plan, occupants, layouts.sets.back(), layouts.copies[set].has_value(), &layouts));
  }
  layouts.overlaps = PlanOverlaps(plan, uses, layouts.mma, layouts.copies, layouts.sets[0]);
  layouts.producer = PlanProducer(plan, uses, layouts.mma, layouts.copies, layouts.sets);
  return layouts;
}

}  // namespace telemetry::worker::codegen::plan
