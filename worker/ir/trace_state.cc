#include "worker/ir/trace_state.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/record/strings.h"
#include "worker/ir/args.h"
#include "worker/ir/type_rules.h"

namespace telemetry::worker::ir {
namespace {

using record::Cat;

// Returns the part of a path after the last "worker/", or the base name. The location of the sources on the build
// machine stays private.
std::string ShortPath(std::string_view path) {
  constexpr std::string_view kRoot = "worker/";
  const size_t root = path.rfind(kRoot);
  if (root != std::string_view::npos) return std::string(path.substr(root + kRoot.size()));
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

}  // namespace

Trace::State::State(Trace* trace, TraceInputs given) : inputs(std::move(given)), trace_(trace) {
  ir.kernel_name = inputs.kernel_name;
  ir.tensors = inputs.tensors;
  ir.scalars = inputs.scalars;
  root_ = NewRegion(GraphKind::kRoot, {}, nullptr);
  Enter(root_.get());
}

void Trace::State::At(const Location& at) { location_ = {.file = ShortPath(at.file_name()), .line = at.line()}; }

void Trace::State::Error(std::string_view message) {
  if (!error.ok()) return;
  std::string where = Cat("kernel '", ir.kernel_name, "'");
  if (!location_.file.empty()) absl::StrAppend(&where, ", ", location_.file, ":", location_.line);
  error = absl::InvalidArgumentError(Cat(where, ": ", message));
}

std::unique_ptr<Region> Trace::State::NewRegion(GraphKind kind, std::vector<int> axes, std::vector<NodeRef>* captures,
                                                const std::string& name) {
  Graph graph{.id = static_cast<int>(ir.graphs.size()), .kind = kind, .name = name, .axes = std::move(axes)};
  ir.graphs.push_back(graph);
  return std::make_unique<Region>(&ir, std::move(graph), captures);
}

void Trace::State::CloseRoot() {
  ir.graphs[0] = root_->builder.Finish(
      {}, root_->builder.graph().nodes.empty() ? SourceLocation() : root_->builder.graph().nodes.back().location);
}

void Trace::State::Close(Region* region) {
  const Graph& traced = region->builder.graph();
  std::vector<NodeRef> placeholders;
  // A region has placeholders for all values that its sibling regions capture, used or not, because their node has one
  // list of arguments.
  Enter(region);
  for (NodeRef captured : *region->captures) {
    const Region* around = open_[open_.size() - 2];
    placeholders.push_back(Capture(region, around->builder.at(captured), captured));
  }
  Leave();
  placeholders.insert(placeholders.end(), region->parameters.begin(), region->parameters.end());

  std::vector<int> moved(traced.nodes.size(), -1);
  Graph ordered{.id = traced.id, .kind = traced.kind, .name = traced.name, .axes = traced.axes};
  ordered.nodes.reserve(traced.nodes.size() + 1);
  const auto move = [&](size_t from) {
    moved[from] = static_cast<int>(ordered.nodes.size());
    ordered.nodes.push_back(traced.nodes[from]);
  };
  for (NodeRef placeholder : placeholders) {
    move(static_cast<size_t>(placeholder.index));
    ordered.nodes.back().name = absl::StrCat("arg", ordered.nodes.size() - 1, "_1");
  }
  for (size_t i = 0; i < traced.nodes.size(); ++i) {
    if (moved[i] == -1) move(i);
  }
  const auto new_ref = [&](NodeRef ref) { return NodeRef{moved[static_cast<size_t>(ref.index)]}; };
  for (Node& node : ordered.nodes) ReplaceRefs(new_ref, &node);

  Arg::List results;
  for (NodeRef result : region->results) results.push_back(RefArg(new_ref(result)));
  GraphBuilder builder(&ir, std::move(ordered));
  ir.graphs[static_cast<size_t>(region->graph_id())] = builder.Finish(std::move(results), location_);
}

Value Trace::State::Add(Node node) {
  node.location = location_;
  return MakeValue(current().builder.Add(std::move(node)));
}

const Region* Trace::State::FindRegion(int graph) const {
  const auto found = std::find_if(open_.begin(), open_.end(), [graph](Region* r) { return r->graph_id() == graph; });
  return found == open_.end() ? nullptr : *found;
}

const Node* Trace::State::Find(const Value& value) const {
  if (value.trace_ != trace_) return nullptr;
  const Region* region = FindRegion(value.graph_);
  return region == nullptr ? nullptr : &region->builder.at(NodeRef{value.node_});
}

ValueType Trace::State::GetType(const Value& value) const {
  const Node* node = Find(value);
  if (node == nullptr) return {};
  return {node->dtype.value_or(device::DType::kF32), node->shape};
}

std::vector<ValueType> Trace::State::GetTypes(const Carried& values) const {
  std::vector<ValueType> types;
  types.reserve(values.size());
  for (const Value& value : values) types.push_back(GetType(value));
  return types;
}

Value Trace::State::AddParameter(const ValueType& type) {
  const Value value = Add({.op = Op::kPlaceholder, .dtype = type.dtype, .shape = type.shape});
  current().parameters.push_back(NodeRef{value.node_});
  return value;
}

std::optional<NodeRef> Trace::State::Reach(const Value& value) {
  if (!value.valid()) {
    Error("a value that is not valid is used");
    return std::nullopt;
  }
  if (value.trace_ != trace_) {
    Error("a value of another trace is used");
    return std::nullopt;
  }
  if (FindRegion(value.graph_) == nullptr) {
    Error(
        "a value that was made inside a loop body, a branch or a function is used outside of it; return it from there");
    return std::nullopt;
  }
  return ReachFrom(open_.size() - 1, value.graph_, NodeRef{value.node_});
}

NodeRef Trace::State::ReachFrom(size_t depth, int graph, NodeRef node) {
  Region* region = open_[depth];
  if (region->graph_id() == graph) return node;
  const Node& source = FindRegion(graph)->builder.at(node);
  if (GraphBuilder::IsRemade(source)) return region->builder.Remake(source);
  const NodeRef in_parent = ReachFrom(depth - 1, graph, node);
  if (std::find(region->captures->begin(), region->captures->end(), in_parent) == region->captures->end()) {
    region->captures->push_back(in_parent);
  }
  return Capture(region, open_[depth - 1]->builder.at(in_parent), in_parent);
}

NodeRef Trace::State::Capture(Region* region, const Node& source, NodeRef in_parent) {
  const auto found = region->captured.find(in_parent.index);
  if (found != region->captured.end()) return found->second;
  const NodeRef placeholder = region->builder.Add(
      {.op = Op::kPlaceholder, .dtype = source.dtype, .shape = source.shape, .location = source.location});
  region->captured.emplace(in_parent.index, placeholder);
  return placeholder;
}

Arg Trace::State::Refs(const std::vector<NodeRef>& nodes) {
  Arg::List list;
  for (NodeRef node : nodes) list.push_back(RefArg(node));
  return Arg{std::move(list)};
}

std::optional<Arg::List> Trace::State::ReachAll(const Carried& values) {
  Arg::List list;
  for (const Value& value : values) {
    const std::optional<NodeRef> ref = Reach(value);
    if (!ref.has_value()) return std::nullopt;
    list.push_back(RefArg(*ref));
  }
  return list;
}

bool Trace::State::IsUsable(AxisRef axis) {
  if (axis.id < 0 || static_cast<size_t>(axis.id) >= ir.axes.size()) {
    Error("an axis that does not exist is used");
    return false;
  }
  if (ir.axes[static_cast<size_t>(axis.id)].kind != AxisKind::kLoop) return true;
  const bool inside = std::any_of(open_.begin(), open_.end(), [&](const Region* r) { return r->axis() == axis.id; });
  if (!inside) Error(Cat("the axis u", axis.id, " of a loop is used outside of the loop"));
  return inside;
}

bool Trace::State::IsUsable(TensorRef tensor) {
  if (tensor.id >= 0 && static_cast<size_t>(tensor.id) < ir.tensors.size()) return true;
  Error("a tensor that does not exist is used");
  return false;
}

bool Trace::State::Expect(const Value& value, const ValueType& type, std::string_view what) {
  if (!Reach(value).has_value()) return false;
  const ValueType is = GetType(value);
  if (is.dtype == type.dtype && SameAxes(is.shape, type.shape)) return true;
  Error(Cat(what, " is ", ShortName(is.dtype), AxisNames(is.shape), ", not ", ShortName(type.dtype),
            AxisNames(type.shape)));
  return false;
}

AxisRef Trace::State::AddAxis(AxisKind kind, const Size& extent, int64_t fixed_block) {
  if (fixed_block < 0) Error(Cat("the fixed block ", fixed_block, " is negative"));
  const int id = static_cast<int>(ir.axes.size());
  ir.axes.push_back({.id = id, .kind = kind, .extent = extent, .fixed_block = fixed_block});
  return AxisRef{id};
}

std::string Trace::State::AxisNames(const std::vector<int>& shape) const {
  return absl::StrCat(
      "[", absl::StrJoin(shape, ", ", [](std::string* out, int axis) { absl::StrAppend(out, "u", axis); }), "]");
}

}  // namespace telemetry::worker::ir
