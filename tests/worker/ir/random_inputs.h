#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/worker/ir/rng.h"
#include "worker/ir/graph.h"
#include "worker/ir/host_array.h"

namespace telemetry::worker::ir {

// The arguments of random kernels: the axes along the dimensions of a tensor, its strides, and its elements.

// A tensor that is planned before the kernel is traced.
struct PlannedTensor {
  std::string name;
  device::DType dtype = device::DType::kF32;
  std::vector<size_t> axes;  // numbers of planned axes, one per dimension
  std::vector<int64_t> sizes;
  int64_t below = 0;  // if not 0: the elements are indices, integers in [0, below)
};

// Returns a random array. Its strides fit the sizes: dense, transposed, with gaps between rows, or every second
// element.
HostArray RandomArray(const PlannedTensor& plan, Rng* rng);

// Bounds of the elements of float tensors, and of integer tensors without `below`.
inline constexpr double kLargestInput = 2;
inline constexpr int64_t kLargestIntegerInput = 9;

// Returns the tensor that the kernel is bound to. `symbolic`: sizes and strides are symbols.
HostTensor Describe(const PlannedTensor& plan, const HostArray& array, int tensor, bool symbolic);

}  // namespace telemetry::worker::ir
