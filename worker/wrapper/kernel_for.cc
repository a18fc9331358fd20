#include "worker/wrapper/kernel_for.h"

#include <string>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/kernels/call_problem.h"
#include "worker/kernels/trace_problem.h"

namespace telemetry::worker::wrapper {

absl::StatusOr<PlanKernel> KernelFor(const kernels::LibraryKernel& kernel, absl::Span<const PlanBuffer> arguments,
                                     const kernels::Numbers& numbers) {
  std::vector<kernels::GivenTensor> tensors;
  for (const PlanBuffer& argument : arguments) tensors.push_back({.dtype = argument.dtype, .sizes = argument.sizes});
  const auto describe = [arguments](size_t i) {
    return record::Cat("buffer '", arguments[i].name, "' is ", arguments[i].LayoutText());
  };
  ASSIGN_OR_RETURN(kernels::Problem problem, kernels::ProblemOfCall(kernel, tensors, numbers, describe));
  ASSIGN_OR_RETURN(ir::DeviceIr ir, kernels::TraceProblem(kernel, problem));
  return PlanKernel{.library = &kernel, .problem = std::move(problem), .outputs = kernels::ListOutputs(ir)};
}

}  // namespace telemetry::worker::wrapper
