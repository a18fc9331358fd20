#include "worker/codegen/plan/loaded_bytes.h"

#include <algorithm>
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

// The sum over the loads of a kernel.
class Sum {
 public:
  Sum(const Plan& plan, const Uses& uses) : plan_(plan), uses_(uses) {}

  int64_t Run() {
    Walk(plan_.GraphFor(plan_.ir->root));
    return bytes_;
  }

 private:
  void Walk(const Graph& graph) {
    const std::vector<bool>& live = uses_.graphs.at(graph.id).live;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      if (!live[i]) continue;
      if (node.op == Op::kLoad) Add(graph, node);
      const bool is_loop = node.op == Op::kReductionLoop || (node.op == Op::kForLoop && !ir::HasArgument(node, 2));
      if (is_loop) Walk(plan_.GraphFor(node.graphs[0]));
    }
  }

  void Add(const Graph& graph, const Node& load) {
    const ir::HostTensor& tensor = plan_.ir->tensors[static_cast<size_t>(AccessedTensor(graph, load))];
    const std::vector<ir::Index> indices = ir::ReadIndices(graph, load);
    std::string address = tensor.name;
    std::set<int> axes;  // of different elements
    for (size_t d = 0; d < indices.size(); ++d) {
      if (indices[d].kind == ir::Index::Kind::kGather) return;
      const bool is_axis = indices[d].kind == ir::Index::Kind::kAxis;
      address += is_axis ? Cat(" ", NameOf(indices[d].axis)) : Cat(" ", indices[d].literal);
      if (is_axis && tensor.strides[d].value != 0) axes.insert(indices[d].axis);
    }
    if (!counted_.insert(address).second) return;
    int64_t elements = 1;
    for (const int axis : axes) elements *= Extent(axis);
    elements = std::min(elements, Span(tensor));
    if (DependsOnTile(axes)) {
      for (const int axis : plan_.grid) elements *= axes.contains(axis) ? 1 : Tiles(axis);
    }
    bytes_ += elements * static_cast<int64_t>(SizeOf(tensor.dtype));
  }

  // Axes inside a tile have equal names if they have equal lengths: two loops may load the same elements.
  std::string NameOf(int axis) const {
    const bool is_of_grid = std::find(plan_.grid.begin(), plan_.grid.end(), axis) != plan_.grid.end();
    return is_of_grid ? Cat("grid ", axis) : Cat("length ", Extent(axis));
  }

  // Returns the elements from the first to the last one of the tensor. Rows that overlap have fewer than their sizes
  // say.
  static int64_t Span(const ir::HostTensor& tensor) {
    int64_t span = 1;
    for (size_t d = 0; d < tensor.sizes.size(); ++d) {
      span += std::max<int64_t>(0, tensor.sizes[d].value - 1) * tensor.strides[d].value;
    }
    return span;
  }

  // Reports whether each tile loads for itself. A persistent block may keep what all of its tiles load.
  bool DependsOnTile(const std::set<int>& axes) const {
    if (plan_.pid_type == PidType::kFlat) return true;
    return std::any_of(plan_.grid.begin(), plan_.grid.end(),
                       [&](int axis) { return axes.contains(axis) && Tiles(axis) > 1; });
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
    if (!std::all_of(tensor.sizes.begin(), tensor.sizes.end(), is_static)) return 0;
    if (!std::all_of(tensor.strides.begin(), tensor.strides.end(), is_static)) return 0;
  }
  return Sum(plan, uses).Run();
}

}  // namespace telemetry::worker::codegen::plan
