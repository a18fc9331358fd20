#pragma once

#include <string>

#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

// Rolling rewrites a graph so that a tile walks a reduction axis in chunks, by kReductionLoop nodes, instead of holding
// all of it at once.
//
// The nodes of a graph are divided into levels: the level of a node is the largest number of reductions along the axis
// on any path of uses that leads to the node. Each level has one loop, if there is work for it. The loop computes the
// reductions of its level along the axis: it carries a partial result per reduction and combines it with the result of
// each chunk. The loop also executes the stores of values that have the axis. Values of lower levels that have the axis
// are computed again from their loads, chunk by chunk. Values that do not have the axis stay outside, between the
// loops, and are captured. Softmax becomes three loops: maximum, sum, store.
//
//   graph 0, root, untouched                 rolled
//     v = load(x, [m, :n])                     loop 1 over n: load, mask, amax, maximum(carried)
//     a = amax(v, n)                           loop 2 over n: load, sub, exp, mask, sum, add(carried); captures a
//     e = exp(v - a)                           loop 3 over n: load, sub, exp, div, store; captures a and s
//     store(out, e / sum(e, n))
//
// An argmax carries the largest value and its position; a dot carries its accumulator. Child graphs (loop bodies,
// branches) are rolled together with the graph that contains them. Axes of the grid and of loops are never rolled.
//
// An axis is not rolled if a loop carries or captures a value that has the axis, because the value would have to be
// kept in full. It is not rolled either if a tensor is both read and written, because computing a value again could
// read other data.

// Adds, for each reduction axis that can be rolled, the alternate of the root graph and of each child graph that has
// the axis (RolledReduction::axes has that one axis). If at most three axes can be rolled, also adds alternates of the
// root for several axes at once. The graphs of loops come before the graphs that contain the loops. Existing graphs do
// not change.
void RollReductions(DeviceIr* ir);

// Returns the reason why the root graph has no alternate for an axis. Empty if there is one, or if the axis is not a
// reduction axis.
std::string WhyNotRolled(const DeviceIr& ir, int axis);

}  // namespace telemetry::worker::ir
