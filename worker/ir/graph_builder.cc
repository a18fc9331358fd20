#include "worker/ir/graph_builder.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/record/strings.h"

namespace telemetry::worker::ir {
namespace {

using device::DType;

// Names that torch.fx does not give to nodes: keywords and builtins of Python. The list has those that are names of
// operations or tensors somewhere.
constexpr std::string_view kTakenNames[] = {
    "abs",  "all",  "and",   "any",    "as",  "bool",   "del",   "dict",  "dir",  "divmod", "else",   "filter", "float",
    "for",  "from", "hash",  "id",     "if",  "in",     "input", "int",   "is",   "iter",   "lambda", "len",    "list",
    "map",  "max",  "min",   "next",   "not", "object", "or",    "pass",  "pow",  "range",  "repr",   "return", "round",
    "self", "set",  "slice", "sorted", "str", "sum",    "try",   "tuple", "type", "vars",   "while",  "with",   "zip",
};

bool IsTaken(std::string_view name) {
  return std::find(std::begin(kTakenNames), std::end(kTakenNames), name) != std::end(kTakenNames);
}

// Returns true for the same constant: 0.0 and -0.0 differ, and a NaN equals a NaN.
bool SameNumber(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

}  // namespace

GraphBuilder::GraphBuilder(const DeviceIr* ir, Graph graph) : ir_(ir), graph_(std::move(graph)) {
  for (const Node& node : graph_.nodes) names_.insert(node.name);
}

NodeRef GraphBuilder::Add(Node node) {
  node.name = UniqueName(node.name.empty() ? BaseName(node.op) : std::string_view(node.name));
  graph_.nodes.push_back(std::move(node));
  return NodeRef{static_cast<int>(graph_.nodes.size()) - 1};
}

template <typename Same>
NodeRef GraphBuilder::FindOrAdd(Node node, const Same& same) {
  const auto found = std::find_if(graph_.nodes.begin(), graph_.nodes.end(),
                                  [&](const Node& other) { return other.op == node.op && same(other); });
  if (found != graph_.nodes.end()) return NodeRef{static_cast<int>(found - graph_.nodes.begin())};
  return Add(std::move(node));
}

NodeRef GraphBuilder::HostTensor(int tensor, const SourceLocation& location) {
  Node node{.name = ir_->tensors[static_cast<size_t>(tensor)].name, .op = Op::kHostTensor, .tensor = tensor};
  node.location = location;
  return FindOrAdd(std::move(node), [&](const Node& other) { return other.tensor == tensor; });
}

NodeRef GraphBuilder::BlockSize(int axis, const SourceLocation& location) {
  Node node{.name = absl::StrCat("block_size_", axis), .op = Op::kBlockSize, .axis = axis, .location = location};
  return FindOrAdd(std::move(node), [&](const Node& other) { return other.axis == axis; });
}

NodeRef GraphBuilder::Scalar(int scalar, const SourceLocation& location) {
  const ScalarParameter& parameter = ir_->scalars[static_cast<size_t>(scalar)];
  Node node{.name = parameter.name, .op = Op::kScalar, .dtype = parameter.dtype, .scalar = scalar};
  node.location = location;
  return FindOrAdd(std::move(node), [&](const Node& other) { return other.scalar == scalar; });
}

NodeRef GraphBuilder::Constant(double value, DType dtype, const SourceLocation& location) {
  Node node{.op = Op::kFull, .dtype = dtype, .value = value, .location = location};
  return FindOrAdd(std::move(node), [&](const Node& other) {
    return other.shape.empty() && other.dtype == dtype && SameNumber(other.value, value);
  });
}

bool GraphBuilder::IsRemade(const Node& node) {
  return node.op == Op::kHostTensor || node.op == Op::kBlockSize || node.op == Op::kScalar ||
         (node.op == Op::kFull && node.shape.empty());
}

NodeRef GraphBuilder::Remake(const Node& node) {
  switch (node.op) {
    case Op::kHostTensor:
      return HostTensor(node.tensor, node.location);
    case Op::kBlockSize:
      return BlockSize(node.axis, node.location);
    case Op::kScalar:
      return Scalar(node.scalar, node.location);
    default:
      return Constant(node.value, node.dtype.value_or(DType::kF32), node.location);
  }
}

std::string GraphBuilder::UniqueName(std::string_view wanted) {
  std::string name(wanted);
  for (int count = 1; IsTaken(name) || !names_.insert(name).second; ++count) {
    name = record::Cat(wanted, "_", count);
  }
  return name;
}

Graph GraphBuilder::Finish(std::vector<Arg> results, const SourceLocation& location) {
  Node output{.op = Op::kOutput, .location = location};
  output.args.push_back(Arg{std::move(results)});
  Add(std::move(output));
  return std::move(graph_);
}

}  // namespace telemetry::worker::ir
