#include "worker/codegen/plan/loaded_bytes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "proto/record/strings.h"

namespace telemetry::worker::codegen::plan {
namespace {

using ir::Graph;
using ir::Node;
using ir::Op;
using record::Cat;

bool HasArgument(const Node& node, size_t arg) {
  return node.args.size() > arg && !std::holds_alternative<std::monostate>(node.args[arg].value);
}

// The sum over the loads of a kernel.
class Sum {
 public:
  Sum(const Plan& plan, const Uses& uses) : plan_(plan), uses_(uses) {}

  int64_t Run() {
    Walk(plan_.GraphFor(plan_.ir->root), {});
    return bytes_;
  }

 private:
  void Walk(const Graph& graph, const std::vector<int>& loops) {
    const std::vector<bool>& live = uses_.graphs.at(graph.id).live;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      if (!live[i]) continue;
      if (node.op == Op::kLoad) Add(graph, node, loops);
      const bool is_loop = node.op == Op::kReductionLoop || (node.op == Op::kForLoop && !HasArgument(node, 2));
      if (!is_loop) continue;
      std::vector<int> inside = loops;
      inside.push_back(node.axis);
      Walk(plan_.GraphFor(node.graphs[0]), inside);
    }
  }

  void Add(const Graph& graph, const Node& load, const std::vector<int>& loops) {
    const ir::HostTensor& tensor = plan_.ir->tensors[static_cast<size_t>(AccessedTensor(graph, load))];
    const std::vector<ir::Index> indices = ir::ReadIndices(graph, load);
    std::string address = tensor.name;
    std::set<int> axes;  // of different elements
    for (size_t d = 0; d < indices.size(); ++d) {
      if (indices[d].kind == ir::Index::Kind::kGather) return;
      address += Cat(" ", indices[d].axis, ":", indices[d].literal);
      if (indices[d].kind == ir::Index::Kind::kAxis && tensor.strides[d].value != 0) axes.insert(indices[d].axis);
    }
    for (const int loop : loops) address += axes.contains(loop) ? Cat(" in ", loop) : "";
    if (!counted_.insert(address).second) return;
    auto bytes = static_cast<int64_t>(SizeOf(tensor.dtype));
    for (const int axis : axes) bytes *= Extent(axis);
    for (const int axis : plan_.grid) bytes *= axes.contains(axis) ? 1 : Tiles(axis);
    bytes_ += bytes;
  }

  int64_t Extent(int axis) const { return plan_.ir->axes[static_cast<size_t>(axis)].extent.value; }
  int64_t Tiles(int axis) const {
    const int64_t block = plan_.blocks[static_cast<size_t>(axis)];
    return (Extent(axis) + block - 1) / block;
  }

  const Plan& plan_;
  const Uses& uses_;
  std::set<std::string> counted_;
  int64_t bytes_ = 0;
};

}  // namespace

int64_t LoadedBytes(const Plan& plan, const Uses& uses) {
  const auto is_static = [](const ir::Size& size) { return size.is_static; };
  for (const ir::Axis& axis : plan.ir->axes) {
    if (!axis.extent.is_static) return 0;
  }
  for (const ir::HostTensor& tensor : plan.ir->tensors) {
    if (!std::all_of(tensor.strides.begin(), tensor.strides.end(), is_static)) return 0;
  }
  return Sum(plan, uses).Run();
}

}  // namespace telemetry::worker::codegen::plan
