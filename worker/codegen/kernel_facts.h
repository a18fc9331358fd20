#pragma once

#include <cstdint>
#include <vector>

#include "worker/ir/graph.h"

namespace telemetry::worker::codegen {

// Facts about a kernel on which its search space and its plan agree. All functions are pure.

// Returns the smallest power of two that is at least this number, and at least 1. Blocks and spans are such numbers.
int64_t PowerOfTwo(int64_t at_least);

bool HasDot(const ir::DeviceIr& ir);
// Reports whether a loop computes an operand of one dot from the sums of another.
bool HasDotOfDot(const ir::DeviceIr& ir);
// Reports whether the value depends on a dot in the same graph.
bool ComesFromDot(const ir::Graph& graph, ir::NodeRef ref);

// Returns, by graph id, the graph to emit if the reductions along the axes in `looped` are walked in chunks.
std::vector<int> AlternatesFor(const ir::DeviceIr& ir, const std::vector<bool>& looped);
// Reports whether the graph or its children compute a value along `axis` outside of reduction loops over `axis`.
// `alternate` has the graph to emit for each graph id.
bool UsesOutsideLoops(const ir::DeviceIr& ir, const std::vector<int>& alternate, int graph, int axis);
// Reports whether every computation along this reduction axis can be done in chunks.
bool CanBeLooped(const ir::DeviceIr& ir, int axis);
// Returns, in order, the axes whose block size or chunk size the config chooses: the reduction axes that can be walked
// in chunks if `reductions`, else the other axes without a fixed block.
std::vector<int> ChoosableAxes(const ir::DeviceIr& ir, bool reductions);

}  // namespace telemetry::worker::codegen
