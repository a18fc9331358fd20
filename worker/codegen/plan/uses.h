#pragma once

#include <array>
#include <map>
#include <vector>

#include "worker/codegen/plan/plan.h"

namespace telemetry::worker::codegen::plan {

// Liveness of nodes, and the layout sets in which their values are needed. Set 0 is the main set, which holds results
// and all values that cross threads. A value that feeds a dot is loaded in a layout set of its own, one for each
// operand, that suits the tensor's memory. Loads and pointwise operations for the operand are emitted in that set, and
// again in set 0 if another node uses them.
//
// An operand is held if it is loaded outside the loop of its dot. It is copied to shared memory once, before the loop.

// A dot operand with a layout set of its own.
struct Staging {
  int graph = 0;          // id of the graph of the dot
  int dot = 0;            // node index
  int operand = 0;        // 0 or 1
  std::vector<int> axes;  // of the operand
  int load = -1;          // the load, if the operand is one load without gathered indices; otherwise -1
  int load_graph = 0;     // id of the graph of the load; the graph of the dot or, for a held operand, one around it
};

// The uses of the nodes of one graph.
struct GraphUses {
  std::vector<std::vector<int>> sets;          // by node: the layout sets that its value is needed in, ascending
  std::vector<bool> live;                      // by node: must be emitted, for its value or for its effects
  std::map<int, std::array<int, 2>> operands;  // by dot: the layout sets of its two operands

  // Reports whether the value is needed in the layout set.
  bool IsNeeded(ir::NodeRef ref, int set) const;
};

// The uses of all nodes of a kernel.
struct Uses {
  std::map<int, GraphUses> graphs;  // by id of the emitted graph
  std::vector<Staging> stagings;    // element i has layout set i + 1
};

// Operands from outside loops are held if `may_hold`; otherwise they are in set 0.
Uses AnalyzeUses(const Plan& plan, bool may_hold);

// Reports whether the graph or one of its children stores.
bool HasEffects(const Plan& plan, const ir::Graph& graph);

}  // namespace telemetry::worker::codegen::plan
