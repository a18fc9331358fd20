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

// A tensor argument as its kernel declares it: a name for each dimension. Dimensions of one name have one size.
struct TensorArgument {
  std::string name;
  std::vector<std::string> dimensions;
  std::optional<DType> dtype;  // the only one it may have; none: one of the kernel's
  std::string indexes;         // i32 values that index the dimension of this name, not drawn from low..high
};

// A number: an f32 scalar of each launch, or a flag that is part of the code (constexpr bool).
struct NumberArgument {
  std::string name;
  double default_value = 0;
  bool is_flag = false;
};

using Sizes = std::map<std::string, int64_t, std::less<>>;   // of dimensions, by name
using Numbers = std::map<std::string, double, std::less<>>;  // of scalars and flags (0, 1), by name

struct TensorSpec {
  std::string name;
  std::vector<int64_t> sizes;
  DType dtype = DType::kF32;

  int64_t elements() const;
  int64_t bytes() const { return elements() * static_cast<int64_t>(SizeOf(dtype)); }
};

// What a kernel is asked to do: every argument but for the values in the tensors.
struct Problem {
  std::vector<TensorSpec> tensors;  // in the order of the kernel's arguments
  Numbers numbers;
  Sizes sizes;

  // Of names that are there.
  int64_t size(std::string_view dimension) const { return sizes.find(dimension)->second; }
  double number(std::string_view name) const { return numbers.find(name)->second; }
  // "x=4096x2560:f16 causal=true"
  std::string ToString() const;
};

// `sizes` and `numbers` name what differs from the defaults; none may be unknown to the kernel.
Problem MakeProblem(const LibraryKernel& kernel, DType dtype, const Sizes& sizes = {}, const Numbers& numbers = {});
Problem DefaultProblem(const LibraryKernel& kernel);

// Of a command's arguments: "x=128x64:f32" for a tensor (":f32" may be left out), "eps=1e-6", "causal=true". What is
// not given follows: a tensor's dimensions from the tensors that are, then from the defaults; its dtype from the first
// tensor that is. INVALID_ARGUMENT names the argument and what was expected.
absl::StatusOr<Problem> ParseProblem(const LibraryKernel& kernel, absl::Span<const std::string> arguments);

// A problem with its tensors' values, dense.
struct Case {
  Problem problem;
  std::map<std::string, ir::HostArray, std::less<>> tensors;

  // Of names that are there.
  const ir::HostArray& tensor(std::string_view name) const { return tensors.find(name)->second; }
  const double* data(std::string_view name) const { return tensor(name).data.data(); }
  int64_t size(std::string_view dimension) const { return problem.size(dimension); }
  double number(std::string_view name) const { return problem.number(name); }
};

// The same seed gives the same values, everywhere.
Case MakeCase(const LibraryKernel& kernel, Problem problem, uint64_t seed);

// By name. Not rounded: the reference's doubles, where `dtype` says what a device would store.
using Outputs = std::map<std::string, ir::HostArray, std::less<>>;

}  // namespace telemetry::worker::kernels
