#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "worker/ir/host_array.h"

namespace telemetry::worker::ir::reference {

// Options of Evaluate().
struct Options {
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

// Options of EvaluateAt().
struct PointOptions {
  int threads = 1;
  // The most elements of the result for each point. If a point stores more, an even selection of them.
  size_t most_elements = size_t{1} << 12;
};

// One array per tensor of DeviceIr::tensors, in that order.
using Tensors = std::vector<HostArray>;

// A position in the grid of a kernel: one index for each axis of kind kGrid, in the order of DeviceIr::axes.
using GridPoint = std::vector<int64_t>;

// An element that a kernel stores to a tensor.
struct StoredElement {
  int tensor = 0;      // index in DeviceIr::tensors
  int64_t offset = 0;  // in HostArray::data of a dense output, or of the argument
  double value = 0;    // a float is not rounded to the tensor's dtype
};

}  // namespace telemetry::worker::ir::reference
