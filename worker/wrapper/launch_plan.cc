#include "worker/wrapper/launch_plan.h"

#include <string>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/kernels/trace_problem.h"
#include "worker/wrapper/plan_builder.h"

namespace telemetry::worker::wrapper {

absl::StatusOr<Plan> PlanOfLaunch(const kernels::LibraryKernel& kernel, const kernels::Problem& problem,
                                  std::optional<codegen::Config> config) {
  ASSIGN_OR_RETURN(ir::DeviceIr ir, kernels::TraceProblem(kernel, problem));
  std::vector<std::string> outputs;
  for (const kernels::TensorSpec& output : kernels::ListOutputs(ir)) outputs.push_back(output.name);

  PlanBuilder builder(kernel.name);
  std::vector<BufferRef> inputs;
  for (const kernels::TensorSpec& tensor : problem.tensors) {
    inputs.push_back(builder.Input(tensor.name, tensor.dtype, tensor.sizes));
  }
  const size_t count = outputs.size();
  const CallOutputs written = builder.Call(
      kernel, inputs, {.names = std::move(outputs), .numbers = problem.numbers, .config = std::move(config)});
  for (size_t i = 0; i < count; ++i) builder.Output(written[i]);
  return builder.Finish();
}

}  // namespace telemetry::worker::wrapper
