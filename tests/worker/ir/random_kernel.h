#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "worker/ir/compare.h"
#include "worker/ir/graph.h"
#include "worker/ir/host_array.h"

namespace telemetry::worker::ir {

// A kernel of random operations, with arguments for a call. Tests use it to check properties that hold for every
// kernel, and to compare code generators with the reference. The seed determines everything.
//
// Results are finite. They do not depend on the division of the axes into blocks, nor on the rounding of a float32:
// discontinuous operations (comparisons, argmax, conversions to integers) only have exact operands, and for all other
// values the generator tracks a bound of the float32 error, which becomes the tolerance of the outputs.
struct RandomKernel {
  uint64_t seed = 0;
  DeviceIr ir;
  std::vector<HostArray> inputs;  // the arguments, in the order of ir.tensors; outputs are not among them
  std::map<std::string, double> scalars;
  std::map<int, Tolerance> tolerances;  // by tensor: of each output
};

// The kinds of operations that a kernel may have. All by default.
struct RandomKernelOptions {
  bool control_flow = true;  // if, while, helper functions
  bool loops = true;         // loops over tiles that carry values, dots among them
  bool gathers = true;
  bool dynamic_shapes = true;  // sizes and strides that are symbols
};

// Makes the kernel of a seed. If the trace fails, prints the seed and aborts: either the generator or the trace has a
// bug.
RandomKernel MakeRandomKernel(uint64_t seed, const RandomKernelOptions& options = {});

}  // namespace telemetry::worker::ir
