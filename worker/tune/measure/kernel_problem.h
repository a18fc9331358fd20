#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/codegen/generated_kernel.h"
#include "worker/ir/compare.h"
#include "worker/ir/host_array.h"
#include "worker/ir/reference/options.h"
#include "worker/runtime/bound_kernel.h"
#include "worker/tune/measure/measure_problem.h"
#include "worker/tune/measure/measure_request.h"

namespace telemetry::worker::tune::measure {

// Conversion of a bound kernel to a problem and requests. The problem's buffers are the kernel's tensors in the order
// of its IR: arguments, then outputs.

// Expected contents by the tensor's name in the kernel: the outputs and the arguments that the kernel stores to.
using ExpectedTensors = std::map<std::string, ir::HostArray, std::less<>>;

// A function that returns the allowed error of the result with this name and dtype.
using ToleranceFunction = std::function<ir::Tolerance(std::string_view name, device::DType dtype)>;

// One call of the kernel and its expected results. The arguments are complete, and the kernel is bound for them.
struct ExpectedCall {
  runtime::Arguments arguments;
  ExpectedTensors results;
  // True: a problem with baselines. There are no results, and AddSample adds a sample to the data set.
  bool has_baseline = false;
};

// The arguments of a call in the form that the IR's reference takes.
struct ReferenceCall {
  ir::reference::Options options;  // has the scalars
  ir::reference::Tensors tensors;  // of the arguments
};
// Downloads the arguments of a call. Returns the errors of ToHost.
absl::StatusOr<ReferenceCall> MakeReferenceCall(const runtime::BoundKernel& kernel,
                                                const runtime::Arguments& arguments);

// Does the same, but takes the values of tensors on the host to which nothing else refers. Their layout remains.
absl::StatusOr<ReferenceCall> TakeReferenceCall(const runtime::BoundKernel& kernel,
                                                const runtime::Arguments& arguments);

// Computes the results with the IR's own reference, for kernels that have no reference of their own. Runs on the host
// in double precision and is slow. Returns the errors of ir::reference::Evaluate and ToHost.
absl::StatusOr<ExpectedTensors> EvaluateCall(const runtime::BoundKernel& kernel, const runtime::Arguments& arguments);

// Returns the problem with one data set per call, without baselines. All calls must have the sizes and strides of the
// first. INVALID_ARGUMENT: a call differs from the first, or a result is missing or has other sizes.
absl::StatusOr<MeasureProblem> MakeProblem(const runtime::BoundKernel& kernel, absl::Span<const ExpectedCall> calls,
                                           const ToleranceFunction& tolerance);

// Returns the data set of another call of a problem. INVALID_ARGUMENT: as above.
absl::StatusOr<DataSet> MakeDataSet(const runtime::BoundKernel& kernel, const MeasureProblem& problem,
                                    const ExpectedCall& call);

// Adds the elements by which a baseline is checked to the data set of a call.
void AddSample(const std::vector<ir::reference::StoredElement>& sample, DataSet* set);

// Returns the request that launches generated code on that problem. `code` is the compiled source. OUT_OF_RANGE: an int
// argument does not fit i32.
absl::StatusOr<MeasureRequest> MakeRequest(const runtime::BoundKernel& kernel,
                                           const codegen::GeneratedKernel& generated,
                                           const runtime::Arguments& arguments,
                                           std::shared_ptr<const device::CompiledCode> code);

}  // namespace telemetry::worker::tune::measure
