#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/ir/compare.h"
#include "worker/ir/trace.h"
#include "worker/kernels/problem.h"

namespace telemetry::worker::kernels {

// The work of one launch, for rates: floating-point operations, and the bytes of reading every input once and writing
// every output once.
struct Cost {
  double flops = 0;
  double bytes = 0;
};

// A kernel of the library. Each kernel has one file with one function that returns its LibraryKernel. Immutable, never
// destroyed, safe to share between threads.
//
// The reference is plain C++ in double precision and does not use the IR. Tests and the tuner compare with it the
// results of the device and those of the IR that is evaluated on the host (ir/reference.h).
struct LibraryKernel {
  std::string name;
  std::string summary;  // one line that describes the computation: "out = x + y"
  std::vector<TensorArgument> tensors;
  std::vector<NumberArgument> numbers;
  Sizes default_sizes;
  DType default_dtype = DType::kF32;
  std::vector<DType> dtypes = {DType::kF32, DType::kF16, DType::kBF16};  // the dtypes that its tensors may have
  // Float inputs are drawn uniformly from [low, high).
  double low = -1;
  double high = 1;

  absl::Status (*body)(ir::Trace& t) = nullptr;
  Outputs (*reference)(const Case& c) = nullptr;
  // Returns the allowed difference between an output of this dtype and the reference.
  ir::Tolerance (*tolerance)(const Problem& problem, DType output) = nullptr;
  double (*flops)(const Problem& problem) = nullptr;
};

// Returns all kernels, sorted by name.
absl::Span<const LibraryKernel* const> AllKernels();

// Returns the kernel of this name. NOT_FOUND if there is none; the message suggests the nearest name and lists all
// names.
absl::StatusOr<const LibraryKernel*> FindKernel(std::string_view name);

// Returns the work of one launch. `outputs` are the outputs of this problem (OutputsOf, or those of the reference).
Cost CostOf(const LibraryKernel& kernel, const Problem& problem, absl::Span<const TensorSpec> outputs);

}  // namespace telemetry::worker::kernels
