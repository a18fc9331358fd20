#pragma once

#include <array>
#include <map>
#include <vector>

#include "worker/codegen/plan.h"

namespace telemetry::worker::codegen {

// What of the graphs has to be computed, and in whose layout. Set 0 is the main one, which results and whatever crosses
// threads are in. What only feeds a dot is loaded in a layout of its own, one per operand, that suits memory: a load
// and pointwise work on it are done there, and possibly again in set 0 when something else uses them, too.
struct Staging {
  int graph = 0;  // of the dot
  int dot = 0;
  int operand = 0;
  std::vector<int> axes;  // of the operand
  int load = -1;          // the load that is all there is to the operand, where its indices are not gathered; or -1
};

struct GraphUses {
  std::vector<std::vector<int>> sets;          // by node: the layout sets that its value is needed in, ascending
  std::vector<bool> live;                      // by node: has to be done, value or not
  std::map<int, std::array<int, 2>> operands;  // by dot: the sets that its operands are in
};

struct Uses {
  std::map<int, GraphUses> graphs;  // by id of the graph that is emitted
  std::vector<Staging> stagings;    // set 1, 2, ...
};

Uses AnalyzeUses(const Plan& plan);

// The graph, or a child of it, stores.
bool HasEffects(const Plan& plan, const ir::Graph& graph);

}  // namespace telemetry::worker::codegen
