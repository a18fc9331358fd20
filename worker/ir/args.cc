#include "worker/ir/args.h"

#include <functional>
#include <variant>
#include <vector>

namespace telemetry::worker::ir {

Arg RefArg(NodeRef ref) { return Arg{ref}; }
Arg NumberArg(int64_t number) { return Arg{number}; }
Arg NumberArg(double number) { return Arg{number}; }

const Arg::List* AsList(const Arg& arg) { return std::get_if<Arg::List>(&arg.value); }
const NodeRef* AsRef(const Arg& arg) { return std::get_if<NodeRef>(&arg.value); }

void ForEachRef(const Arg& arg, const std::function<void(NodeRef)>& visit) {
  if (const NodeRef* ref = AsRef(arg)) {
    visit(*ref);
  } else if (const Arg::List* list = AsList(arg)) {
    for (const Arg& item : *list) ForEachRef(item, visit);
  } else if (const auto* map = std::get_if<Arg::Map>(&arg.value)) {
    for (const auto& [key, item] : *map) ForEachRef(item, visit);
  }
}

Arg MapRefs(const Arg& arg, const std::function<NodeRef(NodeRef)>& replace) {
  if (const NodeRef* ref = AsRef(arg)) return Arg{replace(*ref)};
  if (const Arg::List* list = AsList(arg)) {
    Arg::List result;
    result.reserve(list->size());
    for (const Arg& item : *list) result.push_back(MapRefs(item, replace));
    return Arg{std::move(result)};
  }
  if (const auto* map = std::get_if<Arg::Map>(&arg.value)) {
    Arg::Map result;
    for (const auto& [key, item] : *map) result.emplace(key, MapRefs(item, replace));
    return Arg{std::move(result)};
  }
  return arg;
}

void ReplaceRefs(const std::function<NodeRef(NodeRef)>& replace, Node* node) {
  for (Arg& arg : node->args) arg = MapRefs(arg, replace);
  for (auto& [key, arg] : node->kwargs) arg = MapRefs(arg, replace);
}

bool HasArgument(const Node& node, size_t arg) {
  return node.args.size() > arg && !std::holds_alternative<std::monostate>(node.args[arg].value);
}

std::vector<NodeRef> CollectUses(const Node& node) {
  std::vector<NodeRef> uses;
  const auto add = [&uses](NodeRef ref) { uses.push_back(ref); };
  for (const Arg& arg : node.args) ForEachRef(arg, add);
  for (const auto& [key, arg] : node.kwargs) ForEachRef(arg, add);
  return uses;
}

std::vector<Index> ReadIndices(const Graph& graph, const Node& node) {
  std::vector<Index> indices;
  const Arg::List* list = node.args.size() > 1 ? AsList(node.args[1]) : nullptr;
  if (list == nullptr) return indices;
  for (const Arg& arg : *list) {
    Index index;
    if (const auto* slice = std::get_if<Slice>(&arg.value)) {
      index.axis = slice->axis;
    } else if (const auto* literal = std::get_if<int64_t>(&arg.value)) {
      index.kind = Index::Kind::kLiteral;
      index.literal = *literal;
    } else if (const NodeRef* ref = AsRef(arg); ref != nullptr && graph.at(*ref).op == Op::kBlockSize) {
      index.axis = graph.at(*ref).axis;
    } else if (ref != nullptr) {
      index.kind = Index::Kind::kGather;
      index.value = *ref;
    }
    indices.push_back(index);
  }
  return indices;
}

std::vector<const Node*> Placeholders(const Graph& graph) {
  std::vector<const Node*> placeholders;
  for (const Node& node : graph.nodes) {
    if (node.op == Op::kPlaceholder) placeholders.push_back(&node);
  }
  return placeholders;
}

}  // namespace telemetry::worker::ir
