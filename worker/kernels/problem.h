#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/device/dtype.h"
#include "worker/ir/host_array.h"

namespace telemetry::worker::kernels {

struct LibraryKernel;

// The declaration of a tensor argument, with a name for each dimension. Dimensions of the same name have the same size.
struct TensorArgument {
  std::string name;
  std::vector<std::string> dimensions;
  std::optional<DType> dtype;  // the only allowed dtype; unset: any of LibraryKernel::dtypes
  std::string indexes;         // if set, the values are i32 indices into the dimension of this name
};

// The declaration of a number argument: an f32 scalar of each launch, or a flag that is part of the generated code
// (constexpr bool).
struct NumberArgument {
  std::string name;
  double default_value = 0;
  bool is_flag = false;
};

using Sizes = std::map<std::string, int64_t, std::less<>>;   // sizes of dimensions, by name
using Numbers = std::map<std::string, double, std::less<>>;  // values of scalars and flags (0 or 1), by name

// The name, sizes and dtype of one tensor.
struct TensorSpec {
  std::string name;
  std::vector<int64_t> sizes;
  DType dtype = DType::kF32;

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

// Makes a problem from the kernel's defaults. `sizes` and `numbers` override defaults and contain only names of the
// kernel.
Problem MakeProblem(const LibraryKernel& kernel, DType dtype, const Sizes& sizes = {}, const Numbers& numbers = {});
Problem DefaultProblem(const LibraryKernel& kernel);

// Parses the arguments of a command: "x=128x64:f32" for a tensor (":f32" is optional), "eps=1e-6", "causal=true". The
// dimensions of an omitted tensor come from the given tensors, then from the defaults. An omitted dtype is that of the
// first tensor with a dtype, else the kernel's default. INVALID_ARGUMENT for an unknown argument or an invalid value;
// the message names the argument and the expected form.
absl::StatusOr<Problem> ParseProblem(const LibraryKernel& kernel, absl::Span<const std::string> arguments);

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

// Makes a case with values drawn from a seed (draw.h). The same seed gives the same values on every platform.
Case MakeCase(const LibraryKernel& kernel, Problem problem, uint64_t seed);

// The outputs of a reference, by name. The values are unrounded doubles; `dtype` is the dtype that a device stores.
using Outputs = std::map<std::string, ir::HostArray, std::less<>>;

}  // namespace telemetry::worker::kernels
