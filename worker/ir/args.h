#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

// Functions that visit and rewrite the nested arguments of nodes.

// Returns an argument that holds a node or a number. Defined out of line: where gcc 12 sees a variant being built and
// destroyed, it reports the use of an uninitialised value.
Arg RefArg(NodeRef ref);
Arg NumberArg(int64_t number);
Arg NumberArg(double number);
// Returns the list in an argument, or nullptr if the argument is not a list.
const Arg::List* AsList(const Arg& arg);
// Returns the node in an argument, or nullptr if the argument is not a node.
const NodeRef* AsRef(const Arg& arg);

// Calls `visit` for each node in the argument, in order.
void ForEachRef(const Arg& arg, const std::function<void(NodeRef)>& visit);
// Returns the argument with each node in it replaced.
Arg MapRefs(const Arg& arg, const std::function<NodeRef(NodeRef)>& replace);
// Replaces each node in the arguments of a node.
void ReplaceRefs(const std::function<NodeRef(NodeRef)>& replace, Node* node);

// Returns the placeholders of a graph, in order.
std::vector<const Node*> Placeholders(const Graph& graph);

}  // namespace telemetry::worker::ir
