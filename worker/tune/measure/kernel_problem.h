#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/codegen/generate.h"
#include "worker/ir/compare.h"
#include "worker/ir/host_array.h"
#include "worker/kernel/bound_kernel.h"
#include "worker/tune/measure/measure_problem.h"
#include "worker/tune/measure/measure_request.h"

namespace telemetry::worker::tune {

// From a bound kernel to what is measured. The problem's buffers are the kernel's tensors in the order of its IR:
// arguments, then outputs.

// By the name of the tensor in the kernel. Outputs, and arguments that the kernel stores to.
using ExpectedTensors = std::map<std::string, ir::HostArray, std::less<>>;

// How far a result of that name and dtype may be from the expected one.
using ToleranceOf = std::function<ir::Tolerance(std::string_view name, DType dtype)>;

// One call of the kernel and what has to come of it. Complete arguments, that the kernel is bound for.
struct ExpectedCall {
  Arguments arguments;
  ExpectedTensors results;
};

// The results by the IR's own reference, for kernels that bring none: on the host, in double precision; slow. Errors
// are EvaluateReference's and ToHost's.
absl::StatusOr<ExpectedTensors> EvaluateCall(const BoundKernel& kernel, const Arguments& arguments);

// A data set for each call; sizes and strides are those of the first, and the others' have to be the same.
// INVALID_ARGUMENT: a call that differs, or a result that is missing or has other sizes.
absl::StatusOr<MeasureProblem> ProblemOf(const BoundKernel& kernel, absl::Span<const ExpectedCall> calls,
                                         const ToleranceOf& tolerance);

// How generated code is launched on that problem; `code` is what its source compiled to. OUT_OF_RANGE: an int argument
// that i32 cannot hold.
absl::StatusOr<MeasureRequest> RequestOf(const BoundKernel& kernel, const codegen::GeneratedKernel& generated,
                                         const Arguments& arguments, std::shared_ptr<const CompiledCode> code);

}  // namespace telemetry::worker::tune
