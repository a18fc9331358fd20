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

// What one launch does, for rates. Bytes are those of every input read once and every output written once.
struct Cost {
  double flops = 0;
  double bytes = 0;
};

// A kernel of the library: one file, one function that returns one of these. Immutable, never destroyed, safe to share.
//
// The reference is plain C++ in double precision, and knows nothing of the IR: it is what results are judged by, those
// of the device as well as those of the IR evaluated on the host (ir/reference.h).
struct LibraryKernel {
  std::string name;
  std::string summary;  // what it computes, in a line: "out = x + y"
  std::vector<TensorArgument> tensors;
  std::vector<NumberArgument> numbers;
  Sizes default_sizes;
  DType default_dtype = DType::kF32;
  std::vector<DType> dtypes = {DType::kF32, DType::kF16, DType::kBF16};  // that its tensors may have
  // What inputs are drawn from, evenly.
  double low = -1;
  double high = 1;

  absl::Status (*body)(ir::Trace& t) = nullptr;
  Outputs (*reference)(const Case& c) = nullptr;
  // How far an output of that dtype may be from the reference.
  ir::Tolerance (*tolerance)(const Problem& problem, DType output) = nullptr;
  double (*flops)(const Problem& problem) = nullptr;
};

// All of them, by name.
absl::Span<const LibraryKernel* const> AllKernels();

// NOT_FOUND suggests the nearest name and lists all.
absl::StatusOr<const LibraryKernel*> FindKernel(std::string_view name);

// `outputs`: of that problem, as the reference or a trace has them.
Cost CostOf(const LibraryKernel& kernel, const Problem& problem, absl::Span<const TensorSpec> outputs);

}  // namespace telemetry::worker::kernels
