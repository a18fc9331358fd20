#include "worker/codegen/plan/rounding.h"

#include <algorithm>

namespace telemetry::worker::codegen::plan {
namespace {

using device::DType;
using ir::Node;
using ir::NodeRef;
using ir::Op;

bool IsArg(const Node& node, size_t index, int value) {
  const auto* ref = index < node.args.size() ? std::get_if<NodeRef>(&node.args[index].value) : nullptr;
  return ref != nullptr && ref->index == value;
}

bool UsesValue(const Node& node, int value) {
  const std::vector<NodeRef> used = ir::CollectUses(node);
  return std::find(used.begin(), used.end(), NodeRef{value}) != used.end();
}

class Users {
 public:
  Users(const Plan& plan, const MmaPlan& mma, const GraphUses& uses, const ir::Graph& graph, DType dtype)
      : plan_(plan), mma_(mma), uses_(uses), graph_(graph), dtype_(dtype) {}

  bool AllRound(int value) const {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (uses_.live[i] && UsesValue(graph_.nodes[i], value) && !Rounds(static_cast<int>(i), value)) return false;
    }
    return true;
  }

 private:
  bool Rounds(int user, int value) const {
    const Node& node = graph_.nodes[static_cast<size_t>(user)];
    switch (node.op) {
      case Op::kMaskTo:
        return AllRound(user);
      case Op::kDot:  // a dot rounds its operands to their dtype, but not its accumulator
        return mma_.dots.contains({graph_.id, user}) && !IsArg(node, 2, value);
      case Op::kStore:
        return plan_.ir->tensors[static_cast<size_t>(AccessedTensor(graph_, node))].dtype == dtype_;
      default:
        return false;
    }
  }

  const Plan& plan_;
  const MmaPlan& mma_;
  const GraphUses& uses_;
  const ir::Graph& graph_;
  const DType dtype_;
};

}  // namespace

bool UsersRound(const Plan& plan, const MmaPlan& mma, const GraphUses& uses, const ir::Graph& graph, int conversion) {
  const Node& node = graph.nodes[static_cast<size_t>(conversion)];
  const bool narrows = *node.dtype == DType::kF16 || *node.dtype == DType::kBF16;
  const auto* from = std::get_if<NodeRef>(&node.args[0].value);
  if (!narrows || from == nullptr || !IsFloat(*graph.at(*from).dtype)) return false;
  return Users(plan, mma, uses, graph, *node.dtype).AllRound(conversion);
}

}  // namespace telemetry::worker::codegen::plan
