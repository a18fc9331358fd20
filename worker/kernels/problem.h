#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "worker/device/dtype.h"
#include "worker/ir/host_array.h"

namespace telemetry::worker::kernels {

using Sizes = std::map<std::string, int64_t, std::less<>>;   // sizes of dimensions, by name
using Numbers = std::map<std::string, double, std::less<>>;  // values of scalars and flags (0 or 1), by name

// The name, sizes and dtype of one tensor.
struct TensorSpec {
  std::string name;
  std::vector<int64_t> sizes;
  device::DType dtype = device::DType::kF32;

  int64_t elements() const;
  int64_t bytes() const { return elements() * static_cast<int64_t>(SizeOf(dtype)); }
};

// The arguments of a kernel without the values of the tensors.
struct Problem {
  std::vector<TensorSpec> tensors;  // in the order of the kernel's arguments
  Numbers numbers;
  Sizes sizes;

  // Both require a name that exists.
  int64_t size(std::string_view dimension) const { return sizes.find(dimension)->second; }
  double number(std::string_view name) const { return numbers.find(name)->second; }
  // Returns the arguments as text: "x=4096x2560:f16 causal=1".
  std::string ToString() const;
};

// A problem with its tensors' values, dense.
struct Case {
  Problem problem;
  std::map<std::string, ir::HostArray, std::less<>> tensors;

  // All require a name that exists.
  const ir::HostArray& tensor(std::string_view name) const { return tensors.find(name)->second; }
  const double* data(std::string_view name) const { return tensor(name).data.data(); }
  int64_t size(std::string_view dimension) const { return problem.size(dimension); }
  double number(std::string_view name) const { return problem.number(name); }
};

// The outputs of a reference, by name. The values are unrounded doubles; `dtype` is the dtype that a device stores.
using Outputs = std::map<std::string, ir::HostArray, std::less<>>;

}  // namespace telemetry::worker::kernels
