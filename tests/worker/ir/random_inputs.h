#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/worker/ir/rng.h"
#include "worker/ir/graph.h"
#include "worker/ir/host_array.h"

namespace telemetry::worker::ir {

// Arguments of random kernels: which axes run along the dimensions of a tensor, how it lies in memory, what is in it.

struct PlannedTensor {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<size_t> axes;  // numbers of planned axes, one per dimension
  std::vector<int64_t> sizes;
  int64_t below = 0;  // not 0: integers from 0 up to it, to be used as indices
};

// Dense, transposed, with rows apart, or every second element: strides that fit the sizes.
HostArray RandomArray(const PlannedTensor& plan, Rng* rng);

// Values of a float tensor lie within these bounds, those of an integer tensor (without `below`) too.
inline constexpr double kLargestInput = 2;
inline constexpr int64_t kLargestIntegerInput = 9;

// The tensor as the kernel is bound to it; `symbolic`: sizes and strides are symbols.
HostTensor Describe(const PlannedTensor& plan, const HostArray& array, int tensor, bool symbolic);

}  // namespace telemetry::worker::ir
