#include "worker/codegen/product_loop.h"

#include <algorithm>

#include "worker/codegen/access.h"

namespace telemetry::worker::codegen {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeRef;
using ir::Op;

constexpr size_t kMostDimensions = 5;
constexpr int64_t kMostStride = int64_t{1} << 39;  // in elements
constexpr int64_t kAlignedElements = 8;            // of 16 bits, in 16 bytes

// Returns the only control flow node of the graph, or -1 if there is none or several.
int SoleControlFlow(const Graph& graph) {
  int found = -1;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!ir::IsControlFlow(graph.nodes[i].op)) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(i);
  }
  return found;
}

bool StoresToArguments(const ir::DeviceIr& ir) {
  for (size_t t = 0; t < ir.tensors.size(); ++t) {
    if (!ir.tensors[t].is_output && IsStored(ir, static_cast<int>(t))) return true;
  }
  return false;
}

// Returns the only dot of the body, or -1 if the body has another operation than loads, masks and this dot.
int SoleDot(const Graph& body) {
  int found = -1;
  for (size_t i = 0; i < body.nodes.size(); ++i) {
    const Node& node = body.nodes[i];
    switch (node.op) {
      case Op::kPlaceholder:
      case Op::kHostTensor:
      case Op::kBlockSize:
      case Op::kLoad:
      case Op::kOutput:
      case Op::kMaskTo:
        break;
      case Op::kDot:
        if (found >= 0) return -1;
        found = static_cast<int>(i);
        break;
      default:
        return -1;
    }
  }
  return found;
}

// Reports whether the dot adds to the only value that the loop carries.
bool AddsToCarried(const Graph& body, int dot) {
  if (body.nodes.back().op != Op::kOutput) return false;
  const auto& outputs = std::get<ir::Arg::List>(body.nodes.back().args[0].value);
  if (outputs.size() != 1 || !std::holds_alternative<NodeRef>(outputs[0].value)) return false;
  const Node& node = body.nodes[static_cast<size_t>(dot)];
  if (std::get<NodeRef>(outputs[0].value) != NodeRef{dot} || !ir::HasArgument(node, 2)) return false;
  const auto last =
      std::find_if(body.nodes.rbegin(), body.nodes.rend(), [](const Node& one) { return one.op == Op::kPlaceholder; });
  const auto* sums = std::get_if<NodeRef>(&node.args[2].value);
  return sums != nullptr && last != body.nodes.rend() && &body.at(*sums) == &*last;
}

// Returns the load of an operand, or nullptr if the operand is not a load. Masks to 0 have no effect on loads, which
// are 0 beyond the ends of axes.
const Node* FindLoad(const Graph& body, NodeRef operand) {
  const Node& node = body.at(operand);
  if (node.op == Op::kMaskTo && node.value == 0) return FindLoad(body, std::get<NodeRef>(node.args[0].value));
  return node.op == Op::kLoad ? &node : nullptr;
}

// Reports whether the strides grow as the description of cuTensorMapEncodeTiled requires.
bool SuitsTma(const std::vector<TmaSource::Dimension>& dimensions) {
  if (dimensions.size() < 2 || dimensions.size() > kMostDimensions || dimensions[0].stride != 1) return false;
  for (size_t d = 1; d < dimensions.size(); ++d) {
    const TmaSource::Dimension& inner = dimensions[d - 1];
    const int64_t stride = dimensions[d].stride;
    if (stride % kAlignedElements != 0 || stride >= kMostStride) return false;
    if (stride % inner.stride != 0 || stride < inner.size * inner.stride) return false;
  }
  return true;
}

std::optional<TmaSource> FindSource(const ir::DeviceIr& ir, const Graph& graph, const Node& load) {
  const int index = AccessedTensor(graph, load);
  const ir::HostTensor& tensor = ir.tensors[static_cast<size_t>(index)];
  if (tensor.dtype != device::DType::kF16 && tensor.dtype != device::DType::kBF16) return std::nullopt;
  TmaSource source = {.tensor = index};
  const std::vector<ir::Index> indices = ir::ReadIndices(graph, load);
  for (size_t d = 0; d < indices.size(); ++d) {
    const ir::Size& stride = tensor.strides[d];
    if (!stride.is_static || !tensor.sizes[d].is_static) return std::nullopt;
    if (indices[d].kind == ir::Index::Kind::kGather) return std::nullopt;
    if (indices[d].kind == ir::Index::Kind::kLiteral) {
      source.first += indices[d].literal * stride.value;
      continue;
    }
    const ir::Size& extent = ir.axes[static_cast<size_t>(indices[d].axis)].extent;
    if (IsWide(ir.axes[static_cast<size_t>(indices[d].axis)]) || extent.value == 0) return std::nullopt;
    if (tensor.sizes[d].value == 1) continue;
    source.dimensions.push_back({.axis = indices[d].axis, .size = extent.value, .stride = stride.value});
  }
  std::stable_sort(source.dimensions.begin(), source.dimensions.end(),
                   [](const auto& a, const auto& b) { return a.stride < b.stride; });
  for (size_t d = 1; d < source.dimensions.size(); ++d) {
    const int axis = source.dimensions[d].axis;
    if (std::any_of(source.dimensions.begin(), source.dimensions.begin() + static_cast<std::ptrdiff_t>(d),
                    [axis](const auto& other) { return other.axis == axis; })) {
      return std::nullopt;
    }
  }
  if (source.first % kAlignedElements != 0 || !SuitsTma(source.dimensions)) return std::nullopt;
  return source;
}

}  // namespace

std::optional<ProductLoop> FindProductLoop(const ir::DeviceIr& ir) {
  const Graph& root = ir.graphs[static_cast<size_t>(ir.root)];
  ProductLoop found = {.loop = SoleControlFlow(root)};
  if (found.loop < 0 || StoresToArguments(ir)) return std::nullopt;
  const Node& loop = root.nodes[static_cast<size_t>(found.loop)];
  if (loop.op != Op::kForLoop || ir::HasArgument(loop, 2)) return std::nullopt;
  found.axis = loop.axis;
  found.body = loop.graphs[0];
  const Graph& body = ir.graphs[static_cast<size_t>(found.body)];
  found.dot = SoleDot(body);
  if (found.dot < 0 || !AddsToCarried(body, found.dot)) return std::nullopt;
  const Node& dot = body.nodes[static_cast<size_t>(found.dot)];
  if (dot.axis != loop.axis) return std::nullopt;
  for (size_t i = 0; i < found.sources.size(); ++i) {
    const Node* load = FindLoad(body, std::get<NodeRef>(dot.args[i].value));
    std::optional<TmaSource> source = load == nullptr ? std::nullopt : FindSource(ir, body, *load);
    if (!source) return std::nullopt;
    found.sources[i] = *std::move(source);
  }
  return found;
}

bool HasProducerWarp(const Target& target) { return HasWgmma(target); }

}  // namespace telemetry::worker::codegen
