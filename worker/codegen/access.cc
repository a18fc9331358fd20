#include "worker/codegen/access.h"

#include <algorithm>

namespace telemetry::worker::codegen {
namespace {

using ir::Op;

constexpr int64_t kSafePositions = int64_t{1} << 30;

void Collect(const ir::DeviceIr& ir, int graph, std::vector<Access>* accesses) {
  const ir::Graph& walked = ir.graphs[static_cast<size_t>(graph)];
  for (size_t i = 0; i < walked.nodes.size(); ++i) {
    const ir::Node& node = walked.nodes[i];
    if (node.op == Op::kLoad || node.op == Op::kStore) {
      accesses->push_back({.graph = graph, .node = static_cast<int>(i), .is_store = node.op == Op::kStore});
    }
    for (const int child : node.graphs) Collect(ir, child, accesses);
  }
}

const ir::Node& FindNode(const ir::DeviceIr& ir, int graph, int node) {
  return ir.graphs[static_cast<size_t>(graph)].nodes[static_cast<size_t>(node)];
}

}  // namespace

int AccessedTensor(const ir::Graph& graph, const ir::Node& node) {
  return graph.at(std::get<ir::NodeRef>(node.args[0].value)).tensor;
}

bool IsStored(const ir::DeviceIr& ir, int tensor) {
  return std::any_of(ir.graphs.begin(), ir.graphs.end(), [tensor](const ir::Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const ir::Node& node) {
      return node.op == Op::kStore && AccessedTensor(graph, node) == tensor;
    });
  });
}

std::vector<int> StoreAxes(const ir::Graph& graph, const ir::Node& node) {
  std::vector<int> axes;
  const auto add = [&axes](int axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  };
  for (const ir::Index& index : ir::ReadIndices(graph, node)) {
    if (index.kind == ir::Index::Kind::kAxis) add(index.axis);
    if (index.kind != ir::Index::Kind::kGather) continue;
    for (const int axis : graph.at(index.value).shape) add(axis);
  }
  if (const auto* value = std::get_if<ir::NodeRef>(&node.args[2].value)) {
    for (const int axis : graph.at(*value).shape) add(axis);
  }
  return axes;
}

std::vector<Access> ListAccesses(const ir::DeviceIr& ir) {
  std::vector<Access> accesses;
  Collect(ir, ir.root, &accesses);
  return accesses;
}

int AccessIndex(const ir::DeviceIr& ir, const std::vector<Access>& accesses, int graph, int node) {
  for (size_t i = 0; i < accesses.size(); ++i) {
    if (accesses[i].graph == graph && accesses[i].node == node) return static_cast<int>(i);
  }
  const ir::Node& rolled = FindNode(ir, graph, node);
  for (size_t i = 0; i < accesses.size(); ++i) {
    const ir::Node& original = FindNode(ir, accesses[i].graph, accesses[i].node);
    if (original.op == rolled.op &&
        AccessedTensor(ir.graphs[static_cast<size_t>(accesses[i].graph)], original) ==
            AccessedTensor(ir.graphs[static_cast<size_t>(graph)], rolled) &&
        original.location.file == rolled.location.file && original.location.line == rolled.location.line) {
      return static_cast<int>(i);
    }
  }
  return 0;
}

bool IsContiguous(const ir::DeviceIr& ir, const ir::Graph& graph, const ir::Node& node, int axis) {
  const ir::HostTensor& tensor = ir.tensors[static_cast<size_t>(AccessedTensor(graph, node))];
  const std::vector<ir::Index> indices = ir::ReadIndices(graph, node);
  int found = 0;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (indices[d].kind == ir::Index::Kind::kGather) {
      // Along an axis of the gathered index, the index values determine the addresses.
      const std::vector<int>& shape = graph.at(indices[d].value).shape;
      if (std::find(shape.begin(), shape.end(), axis) != shape.end()) return false;
    }
    if (indices[d].kind != ir::Index::Kind::kAxis || indices[d].axis != axis) continue;
    const ir::Size& stride = tensor.strides[d];
    if (!stride.is_static || stride.value != 1) return false;
    ++found;
  }
  return found == 1;
}

int64_t AlignedVector(const ir::DeviceIr& ir, const ir::Graph& graph, const ir::Node& node, int axis, int64_t most,
                      const std::vector<int64_t>& blocks) {
  if (!IsContiguous(ir, graph, node, axis)) return 1;
  const ir::HostTensor& tensor = ir.tensors[static_cast<size_t>(AccessedTensor(graph, node))];
  const std::vector<ir::Index> indices = ir::ReadIndices(graph, node);
  int64_t vector = std::min(most, static_cast<int64_t>(16 / SizeOf(tensor.dtype)));
  const auto shrink_to_divide = [&vector](int64_t number) {
    while (vector > 1 && number % vector != 0) vector /= 2;
  };
  shrink_to_divide(blocks[static_cast<size_t>(axis)]);
  for (size_t d = 0; d < indices.size(); ++d) {
    const ir::Size& stride = tensor.strides[d];
    if (indices[d].kind == ir::Index::Kind::kAxis && indices[d].axis == axis) continue;
    if (!stride.is_static) return 1;
    if (indices[d].kind == ir::Index::Kind::kLiteral) {
      shrink_to_divide(stride.value * indices[d].literal);
    } else if (!(tensor.sizes[d].is_static && tensor.sizes[d].value <= 1)) {
      shrink_to_divide(stride.value);
    }
  }
  return vector;
}

bool IsWide(const ir::HostTensor& tensor) {
  int64_t span = 1;
  for (size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (!tensor.sizes[d].is_static || !tensor.strides[d].is_static) return true;
    span += tensor.sizes[d].value * tensor.strides[d].value;
  }
  return span >= 2 * kSafePositions;
}

bool IsWide(const ir::Axis& axis) { return !axis.extent.is_static || axis.extent.value >= kSafePositions; }

}  // namespace telemetry::worker::codegen
