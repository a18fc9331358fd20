#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/device/dtype.h"
#include "worker/ir/compare.h"
#include "worker/ir/trace.h"
#include "worker/kernels/problem.h"

namespace telemetry::worker::kernels {

// The declaration of a tensor argument, with a name for each dimension. Dimensions of the same name have the same size.
struct TensorArgument {
  std::string name;
  std::vector<std::string> dimensions;
  std::optional<device::DType> dtype;  // the only allowed dtype; unset: any of LibraryKernel::dtypes
  std::string indexes;                 // if set, the values are i32 indices into the dimension of this name
};

// The declaration of a number argument: an f32 scalar of each launch, or a flag that is part of the generated code
// (constexpr bool).
struct NumberArgument {
  std::string name;
  double default_value = 0;
  bool is_flag = false;
};

// A kernel of the library. Each kernel has one file with one function that returns its LibraryKernel. Immutable, never
// destroyed, safe to share between threads.
//
// The reference is plain C++ in double precision and does not use the IR. Tests and the tuner compare with it the
// results of the device and those of the IR that is evaluated on the host (ir/reference).
struct LibraryKernel {
  std::string name;
  std::string summary;  // one line that describes the computation: "out = x + y"
  std::vector<TensorArgument> tensors;
  std::vector<NumberArgument> numbers;
  Sizes default_sizes;
  device::DType default_dtype = device::DType::kF32;
  std::vector<device::DType> dtypes = {device::DType::kF32, device::DType::kF16,
                                       device::DType::kBF16};  // the dtypes that its tensors may have
  // Float inputs are drawn uniformly from [low, high).
  double low = -1;
  double high = 1;

  absl::Status (*body)(ir::Trace& t) = nullptr;
  Outputs (*reference)(const Case& c) = nullptr;
  // Returns the allowed difference between an output of this dtype and the reference.
  ir::Tolerance (*tolerance)(const Problem& problem, device::DType output) = nullptr;
  double (*flops)(const Problem& problem) = nullptr;
};

// Makes a problem from the kernel's defaults. `sizes` and `numbers` override defaults and contain only names of the
// kernel.
Problem MakeProblem(const LibraryKernel& kernel, device::DType dtype, const Sizes& sizes = {},
                    const Numbers& numbers = {});
Problem DefaultProblem(const LibraryKernel& kernel);

// Parses the arguments of a command: "x=128x64:f32" for a tensor (":f32" is optional), "eps=1e-6", "causal=true". The
// dimensions of an omitted tensor come from the given tensors, then from the defaults. An omitted dtype is that of the
// first tensor with a dtype, else the kernel's default. INVALID_ARGUMENT for an unknown argument or an invalid value;
// the message names the argument and the expected form.
absl::StatusOr<Problem> ParseProblem(const LibraryKernel& kernel, absl::Span<const std::string> arguments);

// The work of one launch, for rates: floating-point operations, and the bytes of reading every input once and writing
// every output once.
struct Cost {
  double flops = 0;
  double bytes = 0;
};

// Returns the work of one launch. `outputs` are the outputs of this problem (ListOutputs, or those of the reference).
Cost ComputeCost(const LibraryKernel& kernel, const Problem& problem, absl::Span<const TensorSpec> outputs);

}  // namespace telemetry::worker::kernels
