#pragma once

#include <string>

#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

// Rolling: a reduction axis that a tile does not hold at once is walked in chunks, by kReductionLoop nodes.
//
// The nodes of a graph fall into levels: a node's level is the number of reductions along the axis that lie before it
// one after another. Per level there is one loop (where there is something to do): it reduces what is reduced along the
// axis there, in a carried partial result per reduction that is combined with each chunk's, and does the stores of
// values that have the axis. What a loop needs of lower levels and has the axis is computed again from its loads, chunk
// by chunk; what does not have the axis stays outside, between the loops, and is captured. So softmax becomes three
// loops: maximum, sum, store.
//
//   graph 0, root, untouched                 rolled
//     v = load(x, [m, :n])                     loop 1 over n: load, mask, amax, maximum(carried)
//     a = amax(v, n)                           loop 2 over n: load, sub, exp, mask, sum, add(carried); captures a
//     e = exp(v - a)                           loop 3 over n: load, sub, exp, div, store; captures a and s
//     store(out, e / sum(e, n))
//
// An argmax carries the largest value and its position; a dot carries its accumulator. Children (loop bodies, branches)
// are rolled along with the graph that they are in. Axes of the grid and of loops are never rolled.
//
// An axis is not rolled where a value that has it is carried or captured by a loop (it would have to be kept whole), or
// where computing again could see other values: a tensor that is both read and written.

// Makes, for each reduction axis that can be rolled, the alternate of the root graph and of each child that has the
// axis (RolledReduction::axes has that one axis), and alternates of the root for several axes at once, of up to three.
// The graphs of loops come before the graphs that they stand in. Graphs that are there stay as they are.
void RollReductions(DeviceIr* ir);

// Why there is no alternate of the root graph for an axis; empty where there is one, or where it is no reduction axis.
std::string WhyNotRolled(const DeviceIr& ir, int axis);

}  // namespace telemetry::worker::ir
