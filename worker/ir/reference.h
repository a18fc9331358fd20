#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/ir/graph.h"
#include "worker/ir/host_array.h"

namespace telemetry::worker::ir {

// Reference mode: the device IR evaluated on the host in double precision, with no compiler and no device. It works as
// a machine of tiles does, block by block with ragged ends, and what lies beyond an end is NaN (or an integer that
// stands out) all along the way: if it gets into a result, a mask is missing. Conversions to f16 and bf16, and stores,
// round; what is between is double.

struct ReferenceOptions {
  // By axis id: the block of a grid or loop axis, the chunk of a rolled reduction axis. 0 or missing: default_block, or
  // for axes with a fixed block that. Results depend on it no more than a device's do. A block that is larger than the
  // axis is cut down to the next power of two.
  std::vector<int64_t> block_sizes;
  int64_t default_block = 16;
  // Reduction axes to walk in chunks: takes the rolled alternate of the root graph that has these axes (roll.h).
  std::vector<int> rolled_axes;
  std::map<std::string, double> scalars;  // the scalar arguments by name
};

// One array per DeviceIr::tensors, in that order.
using ReferenceTensors = std::vector<HostArray>;

// The sizes that the IR's tensor has when these are the arguments' arrays: symbolic sizes come from the arrays.
std::vector<int64_t> ActualSizes(const DeviceIr& ir, int tensor, const ReferenceTensors& tensors);

// Runs the kernel. `tensors` holds the arguments at least; outputs are made, dense and filled as FillValue says, in
// place of what stands there. Arguments that the kernel stores to are changed. INVALID_ARGUMENT: an argument's dtype or
// rank is not the IR's, a scalar is missing. OUT_OF_RANGE, with the node: an index outside its tensor.
// FAILED_PRECONDITION: a while loop without end. The IR itself must be verified.
absl::Status EvaluateReference(const DeviceIr& ir, const ReferenceOptions& options, ReferenceTensors* tensors);

}  // namespace telemetry::worker::ir
