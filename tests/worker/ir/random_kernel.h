#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "worker/ir/compare.h"
#include "worker/ir/graph.h"
#include "worker/ir/host_array.h"

namespace telemetry::worker::ir {

// A kernel made of random operations, with arguments to call it with: for properties that hold for every kernel, and to
// compare code generators with the reference. The seed decides everything.
//
// Results are finite, and do not depend on how the axes are cut into blocks nor on how a float32 is rounded: whatever
// is discontinuous (comparisons, argmax, conversions to integers) only sees exact values, and for the others a bound of
// the error that float32 makes is kept with each value, which becomes the tolerance of the outputs.
struct RandomKernel {
  uint64_t seed = 0;
  DeviceIr ir;
  std::vector<HostArray> inputs;  // the arguments, in the order of ir.tensors; outputs are not among them
  std::map<std::string, double> scalars;
  std::map<int, Tolerance> tolerances;  // by tensor: of each output
};

// What may stand in a kernel. All of it by default.
struct RandomKernelOptions {
  bool control_flow = true;  // if, while, helper functions
  bool loops = true;         // loops over tiles that carry values, dots among them
  bool gathers = true;
  bool dynamic_shapes = true;  // sizes and strides that are symbols
};

// Ends the program, naming the seed, if the trace fails: the generator is wrong then, or the trace.
RandomKernel MakeRandomKernel(uint64_t seed, const RandomKernelOptions& options = {});

}  // namespace telemetry::worker::ir
