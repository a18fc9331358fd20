#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/ir/graph.h"
#include "worker/ir/host_array.h"

namespace telemetry::worker::ir {

// Reference mode: evaluates the device IR on the host in double precision, without a compiler or a device. It works
// block by block with ragged ends, as a device does. Elements beyond an end are NaN (or a conspicuous integer) in all
// intermediate values: if one of them gets into a result, a mask is missing. Conversions to f16 and bf16 round, and so
// do stores. All intermediate values are doubles.

// Options of EvaluateReference().
struct ReferenceOptions {
  // By axis id: the block of a grid or loop axis, or the chunk of a rolled reduction axis. 0 or missing: default_block.
  // Axes with a fixed block always use that. Results depend on the blocks no more than those of a device do. A block
  // that is larger than the axis is cut down to the extent rounded up to a power of two.
  std::vector<int64_t> block_sizes;
  int64_t default_block = 16;
  // Reduction axes to walk in chunks. Selects the rolled alternate of the root graph that has exactly these axes
  // (roll.h).
  std::vector<int> rolled_axes;
  std::map<std::string, double> scalars;  // the scalar arguments, by name
};

// One array per tensor of DeviceIr::tensors, in that order.
using ReferenceTensors = std::vector<HostArray>;

// Returns the sizes of a tensor of the IR for these arrays of the arguments. Symbolic sizes are read from the arrays.
std::vector<int64_t> ActualSizes(const DeviceIr& ir, int tensor, const ReferenceTensors& tensors);

// Runs the kernel. `tensors` must hold at least the arguments. Each output becomes a new dense array filled with
// FillValue(), whatever `tensors` held in its place. Arguments that the kernel stores to are modified. The IR must be
// verified. INVALID_ARGUMENT: the dtype or rank of an argument differs from the IR, a scalar is missing, or there is no
// alternate for the rolled axes. OUT_OF_RANGE, naming the node: an index is outside its tensor. FAILED_PRECONDITION: a
// while loop does not end.
absl::Status EvaluateReference(const DeviceIr& ir, const ReferenceOptions& options, ReferenceTensors* tensors);

}  // namespace telemetry::worker::ir
