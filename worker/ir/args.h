#pragma once

#include <cstdint>
#include <functional>

#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

// Walking and rewriting the nested arguments of nodes.

// Out of line: gcc 12 takes the destruction of a variant that it sees being made for a use of what was not initialised.
Arg RefArg(NodeRef ref);
Arg NumberArg(int64_t number);
Arg NumberArg(double number);
// The list in an argument; nullptr where it is something else.
const Arg::List* AsList(const Arg& arg);
// The node in an argument; nullptr where it is something else.
const NodeRef* AsRef(const Arg& arg);

// Calls `visit` for each node that the argument names, in order.
void ForEachRef(const Arg& arg, const std::function<void(NodeRef)>& visit);
// The argument with each node in it replaced.
Arg MapRefs(const Arg& arg, const std::function<NodeRef(NodeRef)>& replace);
// The same for all arguments of a node.
void ReplaceRefs(const std::function<NodeRef(NodeRef)>& replace, Node* node);

}  // namespace telemetry::worker::ir
