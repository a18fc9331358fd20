#include "worker/ir/roll_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/ir/args.h"
#include "worker/ir/type_rules.h"

namespace telemetry::worker::ir {
namespace {

using record::Cat;

bool Contracts(const Node& node, int axis) {
  return (IsReduction(node.op) || node.op == Op::kDot) && node.axis == axis;
}

bool StoresAlong(const Graph& graph, const Node& node, int axis) {
  if (node.op != Op::kStore) return false;
  for (const Index& index : ReadIndices(graph, node)) {
    if (index.kind == Index::Kind::kAxis && index.axis == axis) return true;
    if (index.kind == Index::Kind::kGather && HasAxis(graph.at(index.value).shape, axis)) return true;
  }
  return false;
}

template <typename Visit>
void ForEachNodeBelow(const DeviceIr& ir, int graph, const Visit& visit) {
  const Graph& of = ir.graphs[static_cast<size_t>(graph)];
  for (const Node& node : of.nodes) {
    visit(of, node);
    for (int child : node.graphs) ForEachNodeBelow(ir, child, visit);
  }
}

int AccessedTensor(const Graph& graph, const Node& node) { return graph.at(*AsRef(node.args[0])).tensor; }

// Returns true if a call or a branch works on each chunk separately, as a pointwise operation does.
bool WorksOnChunks(const DeviceIr& ir, const Node& node, int axis) {
  if (node.op != Op::kCall && node.op != Op::kIf) return false;
  bool fine = true;
  for (int child : node.graphs) {
    ForEachNodeBelow(ir, child, [&](const Graph&, const Node& inside) {
      const bool flow = IsControlFlow(inside.op) && inside.op != Op::kCall && inside.op != Op::kIf;
      fine = fine && !flow && inside.op != Op::kStore && !Contracts(inside, axis);
    });
  }
  return fine;
}

class Planner {
 public:
  Planner(const DeviceIr& ir, const Graph& graph, int axis) : ir_(ir), graph_(graph), axis_(axis) {}

  absl::StatusOr<RollPlan> Plan() {
    const size_t count = graph_.nodes.size();
    plan_.contracts.resize(count);
    plan_.chunked.resize(count);
    plan_.level.resize(count);
    for (size_t i = 0; i < count; ++i) PlaceNode(i);
    for (size_t i = 0; i < count; ++i) {
      RETURN_IF_ERROR(CheckNode(i));
    }
    RETURN_IF_ERROR(CheckStoreOrder());
    return std::move(plan_);
  }

 private:
  void PlaceNode(size_t i) {
    const Node& node = graph_.nodes[i];
    plan_.contracts[i] = Contracts(node, axis_);
    plan_.chunked[i] = HasAxis(node.shape, axis_) || StoresAlong(graph_, node, axis_) ||
                       (IsControlFlow(node.op) && TakesChunks(node) && WorksOnChunks(ir_, node, axis_));
    int level = 0;
    for (NodeRef use : CollectUses(node)) {
      const auto used = static_cast<size_t>(use.index);
      level = std::max(level, plan_.level[used] + (plan_.contracts[used] ? 1 : 0));
    }
    plan_.level[i] = level;
    plan_.levels = std::max(plan_.levels, level + 1);
  }

  bool TakesChunks(const Node& node) const {
    const std::vector<NodeRef> uses = CollectUses(node);
    return std::any_of(uses.begin(), uses.end(), [&](NodeRef use) { return HasAxis(graph_.at(use).shape, axis_); });
  }

  absl::Status CheckNode(size_t i) const {
    const Node& node = graph_.nodes[i];
    if (node.op == Op::kPlaceholder && plan_.chunked[i]) return Refuse(node, "is passed to graph", graph_.id);
    if (node.op == Op::kOutput && TakesChunks(node)) return Refuse(node, "is a result of graph", graph_.id);
    if (IsControlFlow(node.op) && !plan_.chunked[i] && TakesChunks(node)) {
      return Refuse(node, "is captured or carried by a loop in graph", graph_.id);
    }
    if (node.op == Op::kGetItem) {
      const bool from_chunks = plan_.chunked[static_cast<size_t>(AsRef(node.args[0])->index)];
      if (plan_.chunked[i] != from_chunks) return Refuse(node, "comes out of control flow in graph", graph_.id);
    }
    return absl::OkStatus();
  }

  absl::Status Refuse(const Node& node, std::string_view what, int graph) const {
    return absl::FailedPreconditionError(
        Cat("a value that has the axis u", axis_, " ", what, " ", graph, " (node ", node.name, ")"));
  }

  // Checks the order of stores, which loops change. That is correct if no two nodes write the same elements.
  absl::Status CheckStoreOrder() const {
    std::map<int, std::vector<size_t>> writers;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (int tensor : WrittenBy(graph_.nodes[i])) writers[tensor].push_back(i);
    }
    for (const auto& [tensor, nodes] : writers) {
      for (size_t k = 1; k < nodes.size(); ++k) {
        if (KeepOrder(nodes[k - 1], nodes[k])) continue;
        return absl::FailedPreconditionError(Cat("several nodes of graph ", graph_.id, " write to '",
                                                 ir_.tensors[static_cast<size_t>(tensor)].name,
                                                 "', in an order that loops would change"));
      }
    }
    return absl::OkStatus();
  }

  std::set<int> WrittenBy(const Node& node) const {
    std::set<int> tensors;
    if (node.op == Op::kStore) tensors.insert(AccessedTensor(graph_, node));
    for (int child : node.graphs) {
      ForEachNodeBelow(ir_, child, [&](const Graph& graph, const Node& inside) {
        if (inside.op == Op::kStore) tensors.insert(AccessedTensor(graph, inside));
      });
    }
    return tensors;
  }

  bool KeepOrder(size_t first, size_t second) const {
    if (plan_.level[first] != plan_.level[second]) return plan_.level[first] < plan_.level[second];
    if (plan_.chunked[first] != plan_.chunked[second]) return !plan_.chunked[first];
    // In one loop, the chunks do not overlap if the axis runs along the same dimension.
    return !plan_.chunked[first] || FindDimension(first) == FindDimension(second);
  }

  int FindDimension(size_t store) const {
    const std::vector<Index> indices = ReadIndices(graph_, graph_.nodes[store]);
    for (size_t i = 0; i < indices.size(); ++i) {
      if (indices[i].kind == Index::Kind::kAxis && indices[i].axis == axis_) return static_cast<int>(i);
    }
    return -1 - static_cast<int>(store);  // gathered: differs from all other stores
  }

  const DeviceIr& ir_;
  const Graph& graph_;
  const int axis_;
  RollPlan plan_;
};

}  // namespace

bool RollPlan::IsTarget(const Graph& graph, int node, int of_level) const {
  const auto i = static_cast<size_t>(node);
  return level[i] == of_level && (contracts[i] || (chunked[i] && graph.nodes[i].op == Op::kStore));
}

absl::StatusOr<RollPlan> PlanRoll(const DeviceIr& ir, const Graph& graph, int axis) {
  return Planner(ir, graph, axis).Plan();
}

bool UsesAxis(const DeviceIr& ir, int graph, int axis) {
  bool uses = false;
  ForEachNodeBelow(ir, graph, [&](const Graph& of, const Node& node) {
    uses = uses || HasAxis(node.shape, axis) || Contracts(node, axis) || StoresAlong(of, node, axis);
  });
  return uses;
}

absl::Status CheckReadOrWritten(const DeviceIr& ir, int graph) {
  std::set<int> read;
  std::set<int> written;
  ForEachNodeBelow(ir, graph, [&](const Graph& of, const Node& node) {
    if (node.op == Op::kLoad) read.insert(AccessedTensor(of, node));
    if (node.op == Op::kStore) written.insert(AccessedTensor(of, node));
  });
  for (int tensor : written) {
    if (read.count(tensor) == 0) continue;
    return absl::FailedPreconditionError(
        Cat("'", ir.tensors[static_cast<size_t>(tensor)].name, "' is both read and written"));
  }
  return absl::OkStatus();
}

}  // namespace telemetry::worker::ir
