#include "worker/wrapper/kernel_for.h"

#include <string>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/kernels/call_problem.h"
#include "worker/kernels/trace_problem.h"

namespace telemetry::worker::wrapper {

namespace {

OutputForms FormsOf(const ir::DeviceIr& ir, absl::Span<const PlanBuffer> arguments) {
  OutputForms forms;
  for (const ir::HostTensor& tensor : ir.tensors) {
    if (!tensor.is_output) continue;
    forms.emplace_back();
    for (const ir::Size& size : tensor.sizes) {
      SizeForm form(size.value);
      if (size.tensor >= 0) {
        const bool is_of_argument = static_cast<size_t>(size.tensor) < arguments.size();
        form = is_of_argument ? arguments[static_cast<size_t>(size.tensor)].FormOf(static_cast<size_t>(size.dimension))
                              : SizeForm::Unknown();
      }
      forms.back().push_back(std::move(form));
    }
  }
  return forms;
}

}  // namespace

absl::StatusOr<PlanKernel> KernelFor(const kernels::LibraryKernel& kernel, absl::Span<const PlanBuffer> arguments,
                                     const kernels::Numbers& numbers, OutputForms* forms) {
  std::vector<kernels::GivenTensor> tensors;
  for (const PlanBuffer& argument : arguments) tensors.push_back({.dtype = argument.dtype, .sizes = argument.sizes});
  const auto describe = [arguments](size_t i) {
    return record::Cat("buffer '", arguments[i].name, "' is ", arguments[i].LayoutText());
  };
  ASSIGN_OR_RETURN(kernels::Problem problem, kernels::ProblemOfCall(kernel, tensors, numbers, describe));
  ASSIGN_OR_RETURN(ir::DeviceIr ir, kernels::TraceProblem(kernel, problem));
  if (forms != nullptr) *forms = FormsOf(ir, arguments);
  return PlanKernel{.library = &kernel, .problem = std::move(problem), .outputs = kernels::ListOutputs(ir)};
}

}  // namespace telemetry::worker::wrapper
